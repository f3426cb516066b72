// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"strings"

	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// outOfTree are the plugins beyond those that Kubernetes brings. The files
// named plugins_* add those of kubernetes-sigs/scheduler-plugins, as its own
// cmd/scheduler/main.go registers them, when built with the tag of that name.
var outOfTree []app.Option

const documentsPerWorker = 100

// fieldName is the configuration's name of an extension point: QueueSort -> queueSort.
func fieldName(point string) string {
	return strings.ToLower(point[:1]) + point[1:]
}
