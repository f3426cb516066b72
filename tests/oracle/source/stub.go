// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// stubAPI is an API server without any object: discovery, empty lists, and
// watches in which nothing happens. Some plugins of scheduler-plugins ask it
// when they are constructed and wait for the answer.
type stubAPI struct {
	url        string
	kubeconfig string // for load-watcher, which takes it from KUBE_CONFIG
}

type resource struct {
	name       string
	kind       string
	namespaced bool
}

// served is what plugins of any release look for, by group and version.
var served = map[string][]resource{
	"v1": {
		{"nodes", "Node", false}, {"pods", "Pod", true}, {"namespaces", "Namespace", false}, {"services", "Service", true},
		{"configmaps", "ConfigMap", true}, {"persistentvolumes", "PersistentVolume", false},
		{"persistentvolumeclaims", "PersistentVolumeClaim", true}, {"replicationcontrollers", "ReplicationController", true},
	},
	"apps/v1":                                      {{"replicasets", "ReplicaSet", true}, {"statefulsets", "StatefulSet", true}},
	"policy/v1":                                    {{"poddisruptionbudgets", "PodDisruptionBudget", true}},
	"policy/v1beta1":                               {{"poddisruptionbudgets", "PodDisruptionBudget", true}},
	"scheduling.k8s.io/v1":                         {{"priorityclasses", "PriorityClass", false}},
	"storage.k8s.io/v1":                            {{"storageclasses", "StorageClass", false}, {"csinodes", "CSINode", false}, {"csidrivers", "CSIDriver", false}},
	"storage.k8s.io/v1beta1":                       {{"csistoragecapacities", "CSIStorageCapacity", true}},
	"metrics.k8s.io/v1beta1":                       {{"nodes", "NodeMetrics", false}, {"pods", "PodMetrics", true}},
	"scheduling.sigs.k8s.io/v1alpha1":              {{"podgroups", "PodGroup", true}, {"elasticquotas", "ElasticQuota", true}},
	"scheduling.x-k8s.io/v1alpha1":                 {{"podgroups", "PodGroup", true}, {"elasticquotas", "ElasticQuota", true}},
	"topology.node.k8s.io/v1alpha1":                {{"noderesourcetopologies", "NodeResourceTopology", false}},
	"topology.node.k8s.io/v1alpha2":                {{"noderesourcetopologies", "NodeResourceTopology", false}},
	"appgroup.diktyo.k8s.io/v1alpha1":              {{"appgroups", "AppGroup", true}},
	"appgroup.diktyo.x-k8s.io/v1alpha1":            {{"appgroups", "AppGroup", true}},
	"networktopology.diktyo.k8s.io/v1alpha1":       {{"networktopologies", "NetworkTopology", true}},
	"networktopology.diktyo.x-k8s.io/v1alpha1":     {{"networktopologies", "NetworkTopology", true}},
	"security-profiles-operator.x-k8s.io/v1beta1":  {{"seccompprofiles", "SeccompProfile", true}},
	"security-profiles-operator.x-k8s.io/v1alpha1": {{"seccompprofiles", "SeccompProfile", true}},
}

type object map[string]interface{}

// serveAPI starts the server on a free port and writes its kubeconfig into directory.
func serveAPI(directory string) (stubAPI, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return stubAPI{}, err
	}
	api := stubAPI{url: "http://" + listener.Addr().String(), kubeconfig: filepath.Join(directory, "kubeconfig")}
	kubeconfig, err := json.Marshal(object{
		"apiVersion": "v1", "kind": "Config", "current-context": "stub",
		"clusters": []object{{"name": "stub", "cluster": object{"server": api.url}}},
		"contexts": []object{{"name": "stub", "context": object{"cluster": "stub", "user": "stub"}}},
		"users":    []object{{"name": "stub", "user": object{}}},
	})
	if err != nil {
		return stubAPI{}, err
	}
	if err := os.WriteFile(api.kubeconfig, kubeconfig, 0o600); err != nil {
		return stubAPI{}, err
	}
	go http.Serve(listener, http.HandlerFunc(answerAPI))
	return api, nil
}

func answerAPI(response http.ResponseWriter, request *http.Request) {
	path := strings.Trim(request.URL.Path, "/")
	parts := strings.Split(path, "/")
	switch {
	case path == "version":
		writeJSON(response, object{"major": "1", "minor": "0", "gitVersion": "v1.0.0"})
	case path == "api":
		writeJSON(response, object{"kind": "APIVersions", "versions": []string{"v1"}})
	case path == "apis":
		writeJSON(response, groups())
	case parts[0] == "api" && len(parts) == 2:
		answerResources(response, parts[1])
	case parts[0] == "apis" && len(parts) == 3:
		answerResources(response, parts[1]+"/"+parts[2])
	case parts[0] == "api" && len(parts) > 2:
		answerObjects(response, request, parts[1], parts[2:])
	case parts[0] == "apis" && len(parts) > 3:
		answerObjects(response, request, parts[1]+"/"+parts[2], parts[3:])
	default:
		notFound(response)
	}
}

func groups() object {
	versions := map[string][]object{}
	for groupVersion := range served {
		if group, version, ok := strings.Cut(groupVersion, "/"); ok {
			versions[group] = append(versions[group], object{"groupVersion": groupVersion, "version": version})
		}
	}
	list := []object{}
	for group, v := range versions {
		list = append(list, object{"name": group, "versions": v, "preferredVersion": v[0]})
	}
	return object{"kind": "APIGroupList", "apiVersion": "v1", "groups": list}
}

func answerResources(response http.ResponseWriter, groupVersion string) {
	resources, ok := served[groupVersion]
	if !ok {
		notFound(response)
		return
	}
	list := []object{}
	for _, r := range resources {
		list = append(list, object{
			"name": r.name, "singularName": strings.ToLower(r.kind), "kind": r.kind, "namespaced": r.namespaced,
			"verbs": []string{"get", "list", "watch", "create", "update", "patch", "delete"},
		})
	}
	writeJSON(response, object{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": groupVersion, "resources": list})
}

// answerObjects: path is RESOURCE, RESOURCE/NAME, namespaces/NAMESPACE/RESOURCE or that with a name.
func answerObjects(response http.ResponseWriter, request *http.Request, groupVersion string, path []string) {
	if path[0] == "namespaces" && len(path) > 2 {
		path = path[2:]
	}
	for _, r := range served[groupVersion] {
		if r.name != path[0] || len(path) > 1 || request.Method != http.MethodGet {
			continue
		}
		if watch := request.URL.Query().Get("watch"); watch == "true" || watch == "1" {
			response.Header().Set("Content-Type", "application/json")
			if request.URL.Query().Get("sendInitialEvents") == "true" {
				// The client lists by watching; the bookmark says that this was all.
				json.NewEncoder(response).Encode(object{"type": "BOOKMARK", "object": object{
					"kind": r.kind, "apiVersion": groupVersion,
					"metadata": object{"resourceVersion": "1", "annotations": object{"k8s.io/initial-events-end": "true"}},
				}})
			}
			response.(http.Flusher).Flush()
			<-request.Context().Done()
			return
		}
		writeJSON(response, object{
			"kind": r.kind + "List", "apiVersion": groupVersion,
			"metadata": object{"resourceVersion": "1"}, "items": []object{},
		})
		return
	}
	notFound(response)
}

func notFound(response http.ResponseWriter) {
	response.Header().Set("Content-Type", "application/json")
	response.WriteHeader(http.StatusNotFound)
	json.NewEncoder(response).Encode(object{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": http.StatusNotFound,
		"message": "the stub API server has no objects",
	})
}

func writeJSON(response http.ResponseWriter, content object) {
	response.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(response).Encode(content); err != nil {
		fmt.Fprintf(os.Stderr, "oracle: %v\n", err)
	}
}
