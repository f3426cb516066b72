// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

//go:build since_1_23

package main

import (
	"k8s.io/component-base/cli"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/logs"
	"k8s.io/component-base/version/verflag"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

func newOptions() (*options.Options, cliflag.NamedFlagSets) {
	opts := options.NewOptions()
	verflag.AddFlags(opts.Flags.FlagSet("global"))
	globalflag.AddGlobalFlags(opts.Flags.FlagSet("global"), "kube-scheduler", logs.SkipLoggingConfigurationFlags())
	return opts, *opts.Flags
}

// closeListeners: the configuration's addresses are no longer listened on.
func closeListeners(*options.Options) {}

// runCommand is cmd/kube-scheduler's main.
func runCommand() int {
	return cli.Run(app.NewSchedulerCommand(outOfTree...))
}
