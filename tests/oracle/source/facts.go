// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

//go:build since_1_31

package main

import (
	"encoding/json"
	"os"
	"reflect"
	"sort"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
)

// facts is what a release consists of, as tests/oracle/derive.py reads it.
type facts struct {
	Gates   map[string]gate              `json:"gates"`
	Needs   map[string][]string          `json:"needs"` // gate: gates that it depends on
	Flags   map[string]string            `json:"flags"`
	Plugins []string                     `json:"plugins"`
	Types   map[string]map[string]string `json:"types"`
	Args    []string                     `json:"args"`
}

type gate struct {
	Stage   string `json:"stage"`
	Default bool   `json:"default"`
	Locked  bool   `json:"locked"`
}

var v1 = schema.GroupVersion{Group: "kubescheduler.config.k8s.io", Version: "v1"}

// printFacts writes the facts of this release to standard output.
func printFacts() {
	found := facts{Gates: gates(), Needs: dependencies(), Flags: flagTypes(), Types: map[string]map[string]string{}}
	for name := range plugins.NewInTreeRegistry() {
		found.Plugins = append(found.Plugins, name)
	}
	sort.Strings(found.Plugins)
	for kind, known := range scheme.Scheme.KnownTypes(v1) {
		if kind != "KubeSchedulerConfiguration" && !strings.HasSuffix(kind, "Args") {
			continue
		}
		if kind != "KubeSchedulerConfiguration" {
			found.Args = append(found.Args, kind)
		}
		addType(found.Types, known)
	}
	sort.Strings(found.Args)
	output := json.NewEncoder(os.Stdout)
	output.SetIndent("", " ")
	if err := output.Encode(found); err != nil {
		panic(err)
	}
}

func gates() map[string]gate {
	stages := map[string]string{"": "ga", "ALPHA": "alpha", "BETA": "beta", "DEPRECATED": "deprecated"}
	found := map[string]gate{}
	for name, spec := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		if name != "AllAlpha" && name != "AllBeta" {
			found[string(name)] = gate{stages[string(spec.PreRelease)], spec.Default, spec.LockToDefault}
		}
	}
	return found
}

// dependencies is empty before 1.35, which has none.
func dependencies() map[string][]string {
	found := map[string][]string{}
	having, ok := utilfeature.DefaultMutableFeatureGate.(interface {
		Dependencies() map[featuregate.Feature][]featuregate.Feature
	})
	if !ok {
		return found
	}
	for name, needed := range having.Dependencies() {
		for _, other := range needed {
			found[string(name)] = append(found[string(name)], string(other))
		}
	}
	return found
}

func flagTypes() map[string]string {
	found := map[string]string{}
	_, sets := newOptions()
	for _, set := range sets.FlagSets {
		set.VisitAll(func(flag *pflag.Flag) { found[flag.Name] = flag.Value.Type() })
	}
	return found
}

// addType notes the JSON fields of a struct, and of those in it, with their Go types.
func addType(types map[string]map[string]string, t reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || types[t.Name()] != nil || !strings.Contains(t.PkgPath(), "config") {
		return
	}
	fields := map[string]string{}
	types[t.Name()] = fields
	for i := 0; i < t.NumField(); i++ {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			if field.Anonymous && field.Type.Name() != "TypeMeta" {
				addType(types, field.Type)
				for inner, kind := range types[field.Type.Name()] {
					fields[inner] = kind
				}
				delete(types, field.Type.Name()) // it is no structure of its own in a document
			}
			continue
		}
		fields[name] = field.Type.String()
		addType(types, field.Type)
	}
}
