// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"encoding/json"
	"io"
	"os"

	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
)

// runKubectl executes the kubectl command of os.Args.
func runKubectl() {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
}

type kubectlRequest struct {
	Arguments []string `json:"arguments"`
	Stdin     string   `json:"stdin"`
}

type kubectlAnswer struct {
	Code   int    `json:"returncode"`
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
}

// exitCode is what a command panics with that would end the process.
type exitCode int

// serveKubectl executes the kubectl commands that stdin contains as JSON, one
// after the other, and writes the answer of each to stdout. Tests run thousands
// of commands; the start of a process takes most of the time of one command.
func serveKubectl() {
	requests, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	errors := os.Stderr
	kubectlutil.BehaviorOnFatal(func(message string, code int) {
		if message != "" {
			io.WriteString(os.Stderr, message+"\n")
		}
		panic(exitCode(code))
	})
	for {
		var request kubectlRequest
		if err := requests.Decode(&request); err != nil {
			return
		}
		var answer kubectlAnswer
		os.Args = append([]string{"kubectl"}, request.Arguments...)
		stdout, stderr := capture(&os.Stdout), capture(&os.Stderr)
		os.Stdin = feed(request.Stdin)
		answer.Code = codeOf(runKubectl)
		os.Stdin.Close()
		answer.Stdout, answer.Stderr = stdout(), stderr()
		os.Stderr = errors
		if err := answers.Encode(answer); err != nil {
			return
		}
	}
}

func codeOf(command func()) (code int) {
	defer func() {
		if reason := recover(); reason != nil {
			exit, ok := reason.(exitCode)
			if !ok {
				panic(reason)
			}
			code = int(exit)
		}
	}()
	command()
	return 0
}

// capture replaces a file by a pipe; its result closes the pipe and returns what was written.
func capture(file **os.File) func() string {
	reader, writer := pipe()
	*file = writer
	content := make(chan string)
	go func() {
		text, _ := io.ReadAll(reader)
		reader.Close()
		content <- string(text)
	}()
	return func() string {
		writer.Close()
		return <-content
	}
}

// feed returns a file with this content.
func feed(content string) *os.File {
	reader, writer := pipe()
	go func() {
		io.WriteString(writer, content)
		writer.Close()
	}()
	return reader
}

func pipe() (*os.File, *os.File) {
	reader, writer, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	return reader, writer
}
