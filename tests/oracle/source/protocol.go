// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import "encoding/json"

// request is one document to be judged. Without Text and Base64 the scheduler
// runs without --config, that is with its built-in configuration.
type request struct {
	ID     json.RawMessage `json:"id"`
	Text   *string         `json:"text,omitempty"`
	Base64 []byte          `json:"base64,omitempty"`
	Flags  []string        `json:"flags,omitempty"`
}

// document is nil where there is none.
func (r request) document() []byte {
	if r.Text != nil {
		return []byte(*r.Text)
	}
	return r.Base64
}

// Verdicts.
const (
	accepted = "accept"
	refused  = "refuse"
	panicked = "panic" // the process dies: Go panic, log.Fatal, os.Exit
	timedOut = "timeout"
)

// Stages that a document can be refused in.
const (
	stageFlags    = "flags" // the command line, before the document is read
	stageDecode   = "decode"
	stageValidate = "validate"
	stageBuild    = "build" // everything after: clients, lock, extenders, profiles, plugins
)

type verdict struct {
	ID      json.RawMessage `json:"id"`
	Verdict string          `json:"verdict"`
	Stage   string          `json:"stage"`
	Error   string          `json:"error"`
	// What --write-config-to writes.
	Config json.RawMessage `json:"config"`
	// Scheduler name -> extension point -> plugins in running order.
	Effective map[string]map[string][]enabledPlugin `json:"effective"`
	// Whether the leader elector takes its configuration, which the real
	// command asks only once it runs.
	Starts   bool   `json:"starts"`
	RunError string `json:"run_error"`
}

// enabledPlugin is written as ["Name", weight]; weight is 0 where the point has none.
type enabledPlugin struct {
	Name   string
	Weight int32
}

func (p enabledPlugin) MarshalJSON() ([]byte, error) {
	return json.Marshal([]interface{}{p.Name, p.Weight})
}
