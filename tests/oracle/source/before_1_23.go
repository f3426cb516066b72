// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

//go:build !since_1_23

package main

import (
	"math/rand"
	"net"
	"time"

	"github.com/spf13/pflag"
	apiserver "k8s.io/apiserver/pkg/server/options"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

// closeListeners frees the addresses that the document had bound.
func closeListeners(opts *options.Options) {
	for _, serving := range []*apiserver.DeprecatedInsecureServingOptionsWithLoopback{
		opts.CombinedInsecureServing.Healthz, opts.CombinedInsecureServing.Metrics,
	} {
		var listener net.Listener
		if serving != nil && serving.DeprecatedInsecureServingOptions != nil {
			listener = serving.Listener
		}
		if listener != nil {
			listener.Close()
		}
	}
}

// runCommand is cmd/kube-scheduler's main.
func runCommand() int {
	rand.Seed(time.Now().UnixNano())
	pflag.CommandLine.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	command := app.NewSchedulerCommand(outOfTree...)
	logs.InitLogs()
	defer logs.FlushLogs()
	if err := command.Execute(); err != nil {
		return 1
	}
	return 0
}
