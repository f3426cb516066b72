// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

//go:build !since_1_22

package main

import (
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/version/verflag"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/v1beta1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
)

func newOptions() (*options.Options, cliflag.NamedFlagSets) {
	opts, err := options.NewOptions()
	if err != nil {
		panic(err)
	}
	sets := opts.Flags()
	verflag.AddFlags(sets.FlagSet("global"))
	globalflag.AddGlobalFlags(sets.FlagSet("global"), "kube-scheduler")
	return opts, sets
}

// applyLeaderElection: these flags do not override a file yet.
func applyLeaderElection(*options.Options, *config.KubeSchedulerConfiguration) {}

func validate(cfg *config.KubeSchedulerConfiguration) error {
	if err := validation.ValidateKubeSchedulerConfiguration(cfg).ToAggregate(); err != nil {
		return err
	}
	return nil
}

func writtenVersion(*config.KubeSchedulerConfiguration) string {
	return v1beta1.SchemeGroupVersion.String()
}

// byPoint turns the names of Go interfaces into those of configuration fields.
func byPoint(plugins map[string][]config.Plugin) map[string][]enabledPlugin {
	points := map[string][]enabledPlugin{}
	for name, enabled := range plugins {
		point := fieldName(name[:len(name)-len("Plugin")])
		for _, plugin := range enabled {
			points[point] = append(points[point], enabledPlugin{plugin.Name, plugin.Weight})
		}
	}
	return points
}
