// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// Command kubernetes is every Kubernetes component that the throwaway cluster
// runs, in one program: it becomes the one whose name it was called by
// (argv[0]). One program links the shared packages once, which makes the build
// several times shorter and smaller than one program per component.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

var components = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllermanager.NewControllerManagerCommand,
	"kube-scheduler":          newSchedulerCommand,
	"kube-proxy":              proxy.NewProxyCommand,
	"kubelet": func() *cobra.Command {
		return kubelet.NewKubeletCommand(context.Background())
	},
}

func main() {
	name := filepath.Base(os.Args[0])
	switch name {
	case "etcd":
		etcdmain.Main(os.Args)
		return
	case "kubectl":
		runKubectl()
		return
	case "kubectl-server":
		serveKubectl()
		return
	}
	newCommand, ok := components[name]
	if !ok {
		names := append(slices.Collect(maps.Keys(components)), "etcd", "kubectl", "kubectl-server")
		slices.Sort(names)
		fmt.Fprintf(os.Stderr, "call this program by one of the names %s, not %q\n", strings.Join(names, ", "), name)
		os.Exit(2)
	}
	os.Exit(cli.Run(newCommand()))
}
