// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
)

// work judges the documents that come in on standard input. Answers go to file
// descriptor 3.
func work(master, directory string) {
	quietLogs()
	answers := os.NewFile(3, "answers")
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return
		}
		var document request
		if err == nil {
			err = json.Unmarshal(line, &document)
		}
		if err != nil {
			panic(err)
		}
		encoded := encodeVerdict(judge(document, master, directory))
		if _, err := answers.Write(append(encoded, '\n')); err != nil {
			panic(err)
		}
	}
}

// quietLogs asks for verbosity 2 and throws the messages away: at 2 Setup puts
// the completed profiles into the configuration even where no file is asked
// for. Only what ends the process is shown.
func quietLogs() {
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"v": "2", "logtostderr": "false", "stderrthreshold": "FATAL"} {
		if err := flags.Set(name, value); err != nil {
			panic(err)
		}
	}
	klog.SetOutput(io.Discard)
}

// judge does what the command does up to the point where it would run.
func judge(document request, master, directory string) (answer verdict) {
	answer = verdict{ID: document.ID, Verdict: refused}
	arguments := commandLine(document, master, directory)

	// Plugins register handlers there, which is possible once.
	http.DefaultServeMux = http.NewServeMux()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer func() {
		if reason := recover(); reason != nil {
			answer = verdict{ID: document.ID, Verdict: panicked, Stage: stageBuild, Error: lastWords(fmt.Sprintf("panic: %v", reason))}
		}
	}()

	opts, err := parse(arguments)
	if err != nil {
		answer.Stage, answer.Error = stageFlags, err.Error()
		return answer
	}
	defer closeListeners(opts)
	cc, sched, err := app.Setup(ctx, opts, outOfTree...)
	if err != nil {
		answer.Stage, answer.Error = stageOf(document.document(), arguments), err.Error()
		return answer
	}

	answer.Verdict = accepted
	answer.Config = encode(&cc.ComponentConfig)
	answer.Effective = map[string]map[string][]enabledPlugin{}
	for name, framework := range sched.Profiles {
		answer.Effective[name] = byPoint(framework.ListPlugins())
	}
	answer.Starts = true
	if cc.LeaderElection != nil {
		cc.LeaderElection.Callbacks = leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {},
			OnStoppedLeading: func() {},
		}
		if _, err := leaderelection.NewLeaderElector(*cc.LeaderElection); err != nil {
			answer.Starts, answer.RunError = false, fmt.Sprintf("couldn't create leader elector: %v", err)
		}
	}
	return answer
}

// commandLine writes the document to a file and returns the command's arguments.
func commandLine(document request, master, directory string) []string {
	arguments := []string{"--master=" + master, "--secure-port=0"}
	if text := document.document(); text != nil {
		file := filepath.Join(directory, "config.yaml")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			panic(err)
		}
		arguments = append(arguments, "--config="+file)
	}
	return append(arguments, document.Flags...)
}

// parse reads the command line as the command does.
func parse(arguments []string) (*options.Options, error) {
	opts, sets := newOptions()
	flags := pflag.NewFlagSet("kube-scheduler", pflag.ContinueOnError)
	flags.Usage = func() {}
	flags.SetOutput(io.Discard)
	for _, set := range sets.FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	for _, argument := range flags.Args() {
		if len(argument) > 0 {
			return nil, fmt.Errorf("%q does not take any arguments, got %q", "kube-scheduler", flags.Args())
		}
	}
	return opts, setFeatureGates(opts)
}

// stageOf finds the step that refused a document by taking the steps once
// more: Setup's error does not tell.
func stageOf(text []byte, arguments []string) string {
	if text == nil {
		return stageBuild
	}
	object, kind, err := scheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		return stageDecode
	}
	cfg, ok := object.(*config.KubeSchedulerConfiguration)
	if !ok {
		return stageDecode
	}
	cfg.TypeMeta.APIVersion = kind.GroupVersion().String() // validation asks for it
	opts, err := parse(arguments)
	if err != nil {
		return stageFlags
	}
	applyLeaderElection(opts, cfg)
	if validate(cfg) != nil {
		return stageValidate
	}
	return stageBuild
}

// encode is what --write-config-to does, but for the last step from JSON to YAML.
func encode(cfg *config.KubeSchedulerConfiguration) []byte {
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !ok {
		panic("no JSON serializer")
	}
	version, err := schema.ParseGroupVersion(writtenVersion(cfg))
	if err != nil {
		panic(err)
	}
	encoded, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, version), cfg)
	if err != nil {
		panic(err)
	}
	return encoded
}
