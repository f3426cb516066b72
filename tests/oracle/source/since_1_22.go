// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

//go:build since_1_22

package main

import (
	"reflect"

	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
)

func applyLeaderElection(opts *options.Options, cfg *config.KubeSchedulerConfiguration) {
	opts.ApplyLeaderElectionTo(cfg)
}

func validate(cfg *config.KubeSchedulerConfiguration) error {
	if err := validation.ValidateKubeSchedulerConfiguration(cfg); err != nil {
		return err
	}
	return nil
}

// writtenVersion is the document's own, or the newest where there is no document.
func writtenVersion(cfg *config.KubeSchedulerConfiguration) string {
	if cfg.TypeMeta.APIVersion != "" {
		return cfg.TypeMeta.APIVersion
	}
	newest, err := latest.Default()
	if err != nil {
		panic(err)
	}
	return newest.TypeMeta.APIVersion
}

func byPoint(plugins *config.Plugins) map[string][]enabledPlugin {
	points := map[string][]enabledPlugin{}
	value := reflect.ValueOf(*plugins)
	for i := 0; i < value.NumField(); i++ {
		set, ok := value.Field(i).Interface().(config.PluginSet)
		if !ok {
			continue
		}
		point := fieldName(value.Type().Field(i).Name)
		for _, plugin := range set.Enabled {
			points[point] = append(points[point], enabledPlugin{plugin.Name, plugin.Weight})
		}
	}
	return points
}
