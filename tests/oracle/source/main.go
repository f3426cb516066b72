// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// Command oracle says of KubeSchedulerConfiguration documents what the real
// kube-scheduler of one Kubernetes release says of them. It reads one JSON
// object per line (type request) and writes one per line (type verdict), in
// the same order.
//
// Three kinds of processes, all this program:
//
//   - the supervisor, which the caller starts. It has nothing of Kubernetes
//     in it: it hands documents to a worker, survives the worker's death, and
//     serves the API that plugins want to see when they are constructed.
//   - workers, which run the real code on one document after the other.
//   - with --command, the unchanged kube-scheduler command, to compare with
//     (--real runs it for each document).
//
// With --facts it prints what the release consists of (facts.go).
//
// Supervisor and workers have a network of their own (network.go).
package main

import (
	"flag"
	"fmt"
	"os"
)

const (
	workerMode  = "--worker"
	commandMode = "--command"
	factsMode   = "--facts"
)

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case workerMode:
			work(os.Args[2], os.Args[3])
			return
		case commandMode:
			os.Args = append([]string{"kube-scheduler"}, os.Args[2:]...)
			os.Exit(runCommand())
		case factsMode:
			printFacts()
			return
		}
	}
	var how manner
	// The packages that are linked in have put theirs among the flags of the command line.
	flags := flag.NewFlagSet("oracle", flag.ExitOnError)
	flags.BoolVar(&how.isolate, "isolate", false, "a new process for every document: slower, to find state that leaks from one to the next")
	flags.BoolVar(&how.command, "real", false, "ask the unchanged kube-scheduler command, one process per document, to compare with")
	flags.DurationVar(&how.timeout, "timeout", defaultTimeout, "how long one document may take")
	shared := flags.Bool("host-network", false, "use the machine's network instead of an own, empty one")
	flags.Parse(os.Args[1:])
	if flag.NArg() > 0 {
		flags.Usage()
		os.Exit(2)
	}
	if !*shared {
		enterEmptyNetwork()
	}
	if err := supervise(os.Stdin, os.Stdout, how); err != nil {
		fmt.Fprintf(os.Stderr, "oracle: %v\n", err)
		os.Exit(1)
	}
}
