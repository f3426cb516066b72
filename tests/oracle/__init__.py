# Copyright: (c) 2026, osso.scheduler contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The oracle: the real kube-scheduler of every release, asked what it says of a configuration. See README.md.

programs    which programs there are, and building them
client      asking them from Python
proof       proving that they say what the unchanged command says
pins        the Go modules that a release is built from
__main__    the command line
"""
