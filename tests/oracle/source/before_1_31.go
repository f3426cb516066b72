// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

//go:build !since_1_31

package main

import "k8s.io/kubernetes/cmd/kube-scheduler/app/options"

// setFeatureGates: parsing the flags has set them.
func setFeatureGates(*options.Options) error {
	return nil
}

// printFacts: only new releases are derived.
func printFacts() { panic("facts are printed by Kubernetes 1.31 and later") }
