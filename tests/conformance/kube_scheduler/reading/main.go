// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// What kube-scheduler's libraries make of a text before they know any type: for each line of base64 on standard input one
// JSON array on standard output, ["yaml", value], ["json", null], ["duplicate", message] or ["error", message].
//
// A document that begins with { is read as JSON; it is "duplicate" or "error" here as well if YAML, too, finds it so, which
// matters up to 1.22.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"unicode"

	"sigs.k8s.io/yaml"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		text, err := base64.StdEncoding.DecodeString(lines.Text())
		if err != nil {
			panic(err)
		}
		kind, answer := read(text)
		line, err := json.Marshal([]any{kind, answer})
		if err != nil {
			panic(err)
		}
		out.Write(append(line, '\n'))
	}
}

// read does what apimachinery's serializer/json does: Decode, Interpret and unmarshal up to the types.
func read(text []byte) (kind string, answer any) {
	isJSON := bytes.HasPrefix(bytes.TrimLeftFunc(text, unicode.IsSpace), []byte("{"))
	document := text
	if !isJSON {
		converted, err := yaml.YAMLToJSON(text)
		if err != nil {
			return "error", err.Error()
		}
		document = converted
	}
	var typeError *json.UnmarshalTypeError
	if err := json.Unmarshal(document, &struct{}{}); err != nil && !errors.As(err, &typeError) {
		return "error", err.Error()
	}
	if _, err := yaml.YAMLToJSONStrict(text); err != nil {
		if strings.Contains(err.Error(), "already set in map") {
			return "duplicate", err.Error()
		}
		return "error", err.Error()
	}
	if isJSON {
		return "json", nil
	}
	return "yaml", json.RawMessage(document)
}
