// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	defaultTimeout = 10 * time.Second
	patience       = 6 // times as long for the second try
	maximalLine    = 256 << 20
)

// manner is how documents are judged.
type manner struct {
	isolate bool // a new process for every document
	command bool // by the unchanged command
	timeout time.Duration
}

// supervise judges all documents of input, one after the other.
func supervise(input io.Reader, output io.Writer, how manner) error {
	directory, err := os.MkdirTemp("", "oracle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)
	api, err := serveAPI(directory)
	if err != nil {
		return err
	}
	pool := &pool{api: api, directory: directory}
	defer pool.close()

	lines := bufio.NewScanner(input)
	lines.Buffer(nil, maximalLine)
	answers := bufio.NewWriter(output)
	defer answers.Flush()
	for number := 1; lines.Scan(); number++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var document request
		if err := json.Unmarshal(line, &document); err != nil {
			return fmt.Errorf("line %d: %v", number, err)
		}
		var answer []byte
		if how.command {
			answer = encodeVerdict(askCommand(document, api, directory, how.timeout))
		} else {
			answer = pool.judge(line, document, how.isolate, how.timeout)
		}
		if _, err := answers.Write(append(answer, '\n')); err != nil {
			return err
		}
		if err := answers.Flush(); err != nil {
			return err
		}
	}
	return lines.Err()
}

// pool holds the worker in use and one that is started before it is needed,
// because starting takes longer than most documents do. For a single document
// there is none in reserve.
type pool struct {
	api       stubAPI
	directory string
	current   *worker
	spare     *worker
	started   int
	asked     int
}

func (p *pool) start() *worker {
	p.started++
	w, err := startWorker(p.api, fmt.Sprintf("%s/%d", p.directory, p.started))
	if err != nil {
		fmt.Fprintf(os.Stderr, "oracle: cannot start a worker: %v\n", err)
		os.Exit(1)
	}
	return w
}

func (p *pool) next() *worker {
	w := p.spare
	p.spare = nil
	if w == nil {
		w = p.start()
	}
	return w
}

func (p *pool) close() {
	for _, w := range []*worker{p.current, p.spare} {
		if w != nil {
			w.end()
		}
	}
}

// judge returns the verdict as JSON. What goes wrong may be due to a document
// before, or to a busy machine: then it is tried again in a fresh process with more time.
func (p *pool) judge(line []byte, document request, isolate bool, timeout time.Duration) []byte {
	alone := isolate || changesProcess(document.Flags)
	answer, err := p.ask(line, alone, timeout)
	if errors.Is(err, errTimeout) || errors.Is(err, errEnded) && !alone {
		answer, err = p.ask(line, true, timeout*patience)
	}
	switch {
	case err == nil:
		return answer
	case errors.Is(err, errTimeout):
		return encodeVerdict(verdict{ID: document.ID, Verdict: timedOut, Error: errTimeout.Error()})
	default:
		return encodeVerdict(verdict{ID: document.ID, Verdict: panicked, Stage: stageBuild, Error: err.Error()})
	}
}

// ask lets the current worker judge, or a new one if the document has to be alone.
func (p *pool) ask(line []byte, alone bool, timeout time.Duration) ([]byte, error) {
	if alone && p.current != nil && p.current.judged > 0 {
		p.drop()
	}
	if p.current == nil {
		p.current = p.next()
	}
	if p.spare == nil && p.asked > 0 {
		p.spare = p.start()
	}
	p.asked++
	w := p.current
	answer, err := w.judge(line, timeout)
	if err != nil || alone || w.judged >= documentsPerWorker || bytes.Contains(answer, []byte(`"verdict":"panic"`)) {
		p.drop()
	}
	if errors.Is(err, errEnded) {
		err = fmt.Errorf("%s%w", lastWords(w.log.String()), err)
	}
	return answer, err
}

func (p *pool) drop() {
	p.current.end()
	p.current = nil
}

// changesProcess tells whether flags set what belongs to the process and not
// to the command: feature gates, emulated versions, logging. Leader election
// is what differs between operands and is harmless.
func changesProcess(flags []string) bool {
	for _, flag := range flags {
		if !strings.HasPrefix(flag, "--leader-elect") {
			return true
		}
	}
	return false
}

// worker is the supervisor's view of a worker process.
type worker struct {
	process *exec.Cmd
	input   io.WriteCloser
	answers chan []byte // closed when the process has ended
	log     *tail
	judged  int
}

var (
	errTimeout = errors.New("no verdict in time")
	errEnded   = errors.New("") // has no words of its own: the process has had the last
)

func startWorker(api stubAPI, directory string) (*worker, error) {
	if err := os.Mkdir(directory, 0o700); err != nil {
		return nil, err
	}
	// Answers have a pipe of their own: nothing that the scheduler prints can get in between.
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	w := &worker{answers: make(chan []byte), log: &tail{}}
	w.process = exec.Command("/proc/self/exe", workerMode, api.url, directory)
	w.process.Dir = directory
	w.process.ExtraFiles = []*os.File{write}
	w.process.Stdout, w.process.Stderr = w.log, w.log
	w.process.Env = workerEnvironment(api)
	if w.input, err = w.process.StdinPipe(); err != nil {
		return nil, err
	}
	if err := w.process.Start(); err != nil {
		return nil, err
	}
	write.Close()
	go func() {
		lines := bufio.NewReader(read)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				break
			}
			w.answers <- bytes.TrimSpace(line)
		}
		read.Close()
		w.process.Wait()
		close(w.answers)
	}()
	return w, nil
}

// workerEnvironment leaves out what would change how clients reach servers.
func workerEnvironment(api stubAPI) []string {
	environment := []string{"KUBE_CONFIG=" + api.kubeconfig}
	for _, variable := range []string{"PATH", "HOME", "TMPDIR", "GOTRACEBACK", "GODEBUG"} {
		if value, ok := os.LookupEnv(variable); ok {
			environment = append(environment, variable+"="+value)
		}
	}
	return environment
}

// judge returns the worker's answer, errTimeout, or errEnded when the process ended without one.
func (w *worker) judge(line []byte, timeout time.Duration) ([]byte, error) {
	w.judged++
	// A process that has died is noticed when its answer is missing.
	w.input.Write(append(append([]byte{}, line...), '\n'))
	select {
	case answer, ok := <-w.answers:
		if !ok {
			return nil, errEnded
		}
		return answer, nil
	case <-time.After(timeout):
		return nil, errTimeout
	}
}

func (w *worker) end() {
	w.process.Process.Kill()
	for range w.answers {
	}
}

// tail keeps the beginning of the newest output and forgets the rest.
type tail struct {
	mutex sync.Mutex
	data  []byte
}

const tailSize = 1 << 20

func (t *tail) Write(data []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if len(t.data)+len(data) > tailSize {
		t.data = nil
	}
	t.data = append(t.data, data...)
	return len(data), nil
}

func (t *tail) String() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return string(t.data)
}
