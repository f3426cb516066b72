// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// askCommand judges a document by the unchanged command with --write-config-to,
// to prove that the workers, which take over in the middle of it, say the same.
// It cannot tell the stage, the running plugins, or whether the elector starts.
func askCommand(document request, api stubAPI, directory string, timeout time.Duration) verdict {
	answer := verdict{ID: document.ID}
	written := filepath.Join(directory, "written.yaml")
	arguments := append([]string{commandMode}, commandLine(document, api.url, directory)...)
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	command := exec.CommandContext(ctx, "/proc/self/exe", append(arguments, "--write-config-to="+written)...)
	command.Dir = directory
	command.Env = workerEnvironment(api)
	output := &bytes.Buffer{}
	command.Stdout, command.Stderr = output, output
	err := command.Run()

	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		answer.Verdict, answer.Error = timedOut, errTimeout.Error()
	case err == nil:
		text, err := os.ReadFile(written)
		if err != nil {
			panic(err)
		}
		os.Remove(written)
		answer.Verdict = accepted
		if answer.Config, err = yaml.YAMLToJSON(text); err != nil {
			panic(err)
		}
	case errors.As(err, &exit) && exit.ExitCode() == 1 && !bytes.Contains(output.Bytes(), []byte("level=fatal")):
		answer.Verdict, answer.Error = refused, commandError(output.String())
	default:
		answer.Verdict, answer.Error = panicked, lastWords(output.String())
	}
	return answer
}

// commandError takes the message out of what the command printed. From 1.23 on
// that is the err of klog's "command failed"; before, it is all that neither klog nor logrus has written.
func commandError(output string) string {
	if _, message, ok := strings.Cut(output, `"command failed" err=`); ok {
		if lines, ok := strings.CutPrefix(message, "<\n"); ok {
			lines, _, _ = strings.Cut(lines, "\n >\n")
			return strings.TrimPrefix(strings.ReplaceAll(lines, "\n\t", "\n"), "\t")
		}
		quoted, err := strconv.QuotedPrefix(message)
		if err == nil {
			message, err = strconv.Unquote(quoted)
		}
		if err != nil {
			return output
		}
		return message
	}
	if _, message, ok := strings.Cut("\n"+output, "\nError: "); ok { // cobra, of a flag
		message, _, _ = strings.Cut(strings.TrimRight(message, "\n"), "\nUsage:\n")
		return message
	}
	lines := []string{}
	for _, line := range strings.Split(strings.TrimRight(output, "\n"), "\n") {
		if !isLogLine(line) && !strings.HasPrefix(line, "time=") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// isLogLine: klog begins a line with the level and the date, like I1120.
func isLogLine(line string) bool {
	return len(line) > 5 && strings.ContainsRune("IWEF", rune(line[0])) && strings.Trim(line[1:5], "0123456789") == "" && line[5] == ' '
}

// lastWords tells from its output why a process ended.
func lastWords(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "fatal error: "):
			return line
		case strings.Contains(line, "level=fatal"): // logrus; in front is the time
			return line[strings.Index(line, "level=fatal"):]
		case strings.HasPrefix(line, "F") && isLogLine(line): // klog; in front are time, process and place
			_, message, _ := strings.Cut(line, "] ")
			return message
		}
	}
	return lines[len(lines)-1]
}

// address matches a Go pointer, which some messages show by mistake.
var address = regexp.MustCompile(`\(0x[0-9a-f]{8,}\)`)

// encodeVerdict writes a verdict as one line. Addresses are made equal in all processes.
func encodeVerdict(v verdict) []byte {
	v.Error = address.ReplaceAllString(v.Error, "(0xc000000000)")
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return encoded
}
