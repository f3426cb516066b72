// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

//go:build in_tree

package main

import (
	"github.com/spf13/cobra"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// newSchedulerCommand returns kube-scheduler with its own plugins: there is no
// scheduler-plugins for this release.
func newSchedulerCommand() *cobra.Command {
	return app.NewSchedulerCommand()
}
