// Copyright: (c) 2026, osso.scheduler contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

//go:build scheduler_plugins && since_1_23

package main

// The args kinds.
import _ "sigs.k8s.io/scheduler-plugins/apis/config/scheme"
