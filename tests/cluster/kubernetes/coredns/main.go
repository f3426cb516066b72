// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

//go:build !in_tree

// Command coredns is CoreDNS with the plugins that a cluster's DNS needs and no
// more: the stock main compiles in dozens, with cloud SDKs among them.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/hosts"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/log"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/reload"
)

func main() {
	// The order of the list is the order in which a query passes the plugins.
	dnsserver.Directives = []string{
		"reload", "bind", "health", "ready", "log", "errors", "cache", "hosts", "kubernetes", "forward",
	}
	coremain.Run()
}
