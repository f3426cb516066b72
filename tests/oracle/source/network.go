// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"unsafe"
)

// Set in the process that has its own network.
const networkVariable = "ORACLE_EMPTY_NETWORK"

// enterEmptyNetwork starts this program once more in a network that has
// nothing but a loopback interface, and ends as that one ends. So documents
// reach no other machine, names of theirs fail at once, and programs that run
// at the same time do not take ports from each other (10251 up to 1.22, and
// load-watcher's 2020). Where the kernel refuses, the machine's network is used.
func enterEmptyNetwork() {
	if os.Getenv(networkVariable) != "" {
		if err := raiseLoopback(); err != nil {
			fmt.Fprintf(os.Stderr, "oracle: no loopback interface in the empty network: %v\n", err)
			os.Exit(1)
		}
		return
	}
	again := exec.Command("/proc/self/exe", os.Args[1:]...)
	again.Stdin, again.Stdout, again.Stderr = os.Stdin, os.Stdout, os.Stderr
	again.Env = append(os.Environ(), networkVariable+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	if err := again.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "oracle: no network of its own (%v), uses the machine's\n", err)
		return
	}
	if err := again.Wait(); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// raiseLoopback does `ip link set lo up`.
func raiseLoopback() error {
	if _, err := net.InterfaceByName("lo"); err != nil {
		return err
	}
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(socket)
	var request struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}
	copy(request.name[:], "lo")
	request.flags = syscall.IFF_UP | syscall.IFF_RUNNING
	_, _, number := syscall.Syscall(syscall.SYS_IOCTL, uintptr(socket), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request)))
	if number != 0 {
		return number
	}
	return nil
}
