// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// warm-runner starts the Ansible programs of the operator's pod as forks of a process that has imported them (warm_parent.py).
//
//	warm-runner COMMAND...      the first process of the container: runs COMMAND and the parent, starts the parent again when it has
//	                            ended, passes signals on to COMMAND, reaps, and exits with the status of COMMAND. Ends COMMAND when
//	                            the certificate for its metrics appears, which it reads only at its start
//	ansible-runner ARGUMENT...  the same file by another name: has the parent fork that program. If it can send the parent no request, or
//	                            the parent rejects it, it executes the next file of that name on PATH. If ansible-runner started it,
//	                            it is killed when ansible-runner ends
//
// OPERATOR_WARM_RUNNER is the path of the parent's socket. If it is empty, there is no parent. warm_parent.py describes the protocol.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const (
	parentProgram = "warm-parent"
	// Pause before the parent is started again: doubled as long as it ends within steady.
	firstPause, longestPause, steady = time.Second, time.Minute, 30 * time.Second
)

// How long the parent may take to answer before it counts as hung, and how often the certificate is looked for. Tests set other times when they link.
var patience, lookEvery = "10s", "30s"

// The certificate of the metrics, where controller-runtime looks for it. If it is absent then, controller-runtime serves one that no client can verify.
var certificate = filepath.Join(os.TempDir(), "k8s-metrics-server", "serving-certs", "tls.crt")

var passedOn = []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2}

func main() {
	name := filepath.Base(os.Args[0])
	if name == "warm-runner" {
		if len(os.Args) < 2 {
			fail("warm-runner: give a command to run")
		}
		os.Exit(supervise(os.Args[1:]))
	}
	if os.Getenv("AWX_ISOLATED_DATA_DIR") != "" {
		// ansible-runner, which sets it, started this. It has ansible-playbook ignore the SIGHUP of its own end. execute keeps the setting,
		// which belongs to the thread.
		runtime.LockOSThread()
		_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0)
	}
	if path := os.Getenv("OPERATOR_WARM_RUNNER"); path != "" {
		runInFork(path, name)
	}
	execute(name)
}

// runInFork has the parent run the program and exits like it. It returns if the program was not started.
func runInFork(path, name string) {
	folder, err := os.Getwd()
	if err != nil {
		return
	}
	connection, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return
	}
	wait, _ := time.ParseDuration(patience)
	limit := syscall.NsecToTimeval(wait.Nanoseconds())
	_ = syscall.SetsockoptTimeval(connection, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &limit)
	_ = syscall.SetsockoptTimeval(connection, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &limit)
	if err := connect(connection, path); err != nil {
		return
	}
	if _, err := receive(connection); err != nil {
		if err == syscall.EAGAIN {
			killHung(connection)
		}
		return
	}
	signals := make(chan os.Signal, 16)
	for _, one := range passedOn {
		// pexpect has it ignored in its children.
		if !signal.Ignored(one) {
			signal.Notify(signals, one)
		}
	}
	request := []string{name, folder, strconv.Itoa(len(os.Args) - 1)}
	request = append(append(request, os.Args[1:]...), os.Environ()...)
	if err := syscall.Sendmsg(connection, []byte(strings.Join(request, "\x00")), syscall.UnixRights(0, 1, 2), nil, 0); err != nil {
		signal.Reset()
		return
	}
	answer, err := receive(connection)
	if err == syscall.EAGAIN {
		// Whether it will start is not known, so nothing else must.
		killHung(connection)
		fail(name + ": the warm parent does not start it; it was killed")
	}
	pid, status := 0, 0
	if _, err := fmt.Sscanf(answer, "pid %d", &pid); err != nil {
		signal.Reset()
		return
	}
	go func() {
		for one := range signals {
			_ = syscall.Kill(-pid, one.(syscall.Signal))
		}
	}()
	_ = syscall.SetsockoptTimeval(connection, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{})
	answer, _ = receive(connection)
	if _, err := fmt.Sscanf(answer, "status %d", &status); err != nil {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		fail(name + ": the warm parent has ended, and with it this run")
	}
	exitLike(syscall.WaitStatus(status))
}

func connect(connection int, path string) error {
	for {
		if err := syscall.Connect(connection, &syscall.SockaddrUnix{Name: path}); err != syscall.EINTR {
			return err
		}
	}
}

// receive returns one message. The end of the connection is an empty one.
func receive(connection int) (string, error) {
	buffer := make([]byte, 64)
	for {
		length, _, err := syscall.Recvfrom(connection, buffer, 0)
		if err != syscall.EINTR {
			return string(buffer[:max(length, 0)]), err
		}
	}
}

// killHung ends a parent that does not answer, so that it is started again.
func killHung(connection int) {
	if peer, err := syscall.GetsockoptUcred(connection, syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
		_ = syscall.Kill(int(peer.Pid), syscall.SIGKILL)
	}
}

func exitLike(status syscall.WaitStatus) {
	if status.Signaled() {
		// Not signal.Reset: it leaves signals such as SIGSEGV to the Go runtime, which would print all its goroutines. Nor a core file of the client.
		_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0)
		var action [8]uint64 // struct sigaction with SIG_DFL, larger than the kernel's
		const setSize = 8
		_, _, _ = syscall.RawSyscall6(
			syscall.SYS_RT_SIGACTION, uintptr(status.Signal()), uintptr(unsafe.Pointer(&action)), 0, setSize, 0, 0)
		_ = syscall.Kill(os.Getpid(), status.Signal())
		time.Sleep(time.Second)
	}
	os.Exit(exitCode(status))
}

func exitCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// execute becomes the next program of that name on PATH after this one.
func execute(name string) {
	own, err := os.Stat("/proc/self/exe")
	if err != nil {
		fail(err.Error())
	}
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(folder, name)
		found, err := os.Stat(path)
		if err != nil || os.SameFile(own, found) || found.IsDir() || found.Mode()&0o111 == 0 {
			continue
		}
		fail(syscall.Exec(path, append([]string{path}, os.Args[1:]...), os.Environ()).Error())
	}
	fail(name + ": not on PATH")
}

// supervise runs the command and the parent until the command ends, and returns its exit status.
func supervise(command []string) int {
	signals := make(chan os.Signal, 64)
	signal.Notify(signals, append([]os.Signal{syscall.SIGCHLD}, passedOn...)...)
	var look <-chan time.Time
	if _, err := os.Stat(certificate); err != nil {
		every, _ := time.ParseDuration(lookEvery)
		look = time.Tick(every)
	}
	served, err := start(command)
	if err != nil {
		fail(err.Error())
	}
	parent, pause, started := 0, firstPause, time.Time{}
	var due <-chan time.Time
	if os.Getenv("OPERATOR_WARM_RUNNER") != "" {
		due = time.After(0)
	}
	for {
		select {
		case <-due:
			started = time.Now()
			if parent, err = start([]string{parentProgram}); err != nil {
				fmt.Fprintf(os.Stderr, "warm-runner: no warm parent: %v; next attempt in %v\n", err, pause)
				due = time.After(pause)
				pause = min(2*pause, longestPause)
			}
		case <-look:
			if _, err := os.Stat(certificate); err == nil {
				fmt.Fprintln(os.Stderr, "warm-runner: the certificate for the metrics is there now; the container restarts with it")
				_ = syscall.Kill(served, syscall.SIGTERM)
				look = nil
			}
		case received := <-signals:
			if received != syscall.SIGCHLD {
				_ = syscall.Kill(served, received.(syscall.Signal))
				continue
			}
			for pid, status := reap(); pid > 0; pid, status = reap() {
				switch pid {
				case served:
					return exitCode(status)
				case parent:
					if time.Since(started) > steady {
						pause = firstPause
					}
					fmt.Fprintf(os.Stderr, "warm-runner: the warm parent ended with status %d and is started again in %v\n", exitCode(status), pause)
					due = time.After(pause)
					pause = min(2*pause, longestPause)
				}
			}
		}
	}
}

// reap returns a process that has ended, or 0.
func reap() (int, syscall.WaitStatus) {
	var status syscall.WaitStatus
	for {
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return 0, status
		}
		return pid, status
	}
}

func start(command []string) (int, error) {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return 0, err
	}
	return syscall.ForkExec(path, command, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(1)
}
