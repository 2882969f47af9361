# SPDX-License-Identifier: MIT
"""docs/adopting/editors.md, word for word: Neovim, Emacs and Vim with their settings, and the server behind the first two."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

from lsp.test_protocol import EVENT
from support import PATIENCE, ROOT, Case, need, read, run

PAGE = os.path.join(ROOT, "docs/adopting/editors.md")
WRONG = EVENT.replace("a=%d", "a=%s")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", read(PAGE), re.S | re.M)


class Editors(Case):
    def setUp(self) -> None:
        super().setUp()
        path = self.write("bin/tpgen", f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m tpgen "$@"\n')
        os.chmod(path, 0o755)
        self.file = self.write("e.tp", WRONG)
        self.env = {**os.environ, "HOME": self.dir, "PATH": self.path("bin") + ":" + os.environ["PATH"], "CC": "gcc", "TERM": "dumb",
                    **{f"XDG_{name}_HOME": self.path(name) for name in ("CONFIG", "DATA", "STATE", "CACHE")}}

    def edit(self, *command: str) -> subprocess.CompletedProcess:
        done = run(list(command), cwd=self.dir, env=self.env)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def test_neovim(self) -> None:
        need(self, "nvim")
        block, = blocks("lua")
        self.write("CONFIG/nvim/init.lua", block)
        script = self.write("check.lua", """
local patience = ... or %d
local said = {}
local function wait(condition) assert(vim.wait(patience, condition, 20), 'waited too long: ' .. vim.inspect(said)) end
local function lines() return vim.tbl_map(function(d) return { d.lnum + 1, d.col + 1, d.code or d.user_data.lsp.code, d.message } end,
                                          vim.diagnostic.get(0)) end
local function ask(method, line, col)
  vim.api.nvim_win_set_cursor(0, { line, col })
  local answers = vim.lsp.buf_request_sync(0, method, vim.lsp.util.make_position_params(), patience)
  for _, answer in pairs(answers) do return answer.result end
end
wait(function() return #lines() > 0 end)
said.filetype = vim.bo.filetype
said.before = lines()
vim.api.nvim_buf_set_text(0, 6, 13, 6, 15, { '%%d' })
wait(function() return #lines() == 0 end)
said.hover = ask('textDocument/hover', 2, 12).contents.value
said.completion = vim.tbl_map(function(item) return item.label end, ask('textDocument/completion', 6, 25))
said.definition = ask('textDocument/definition', 6, 25).range.start
vim.api.nvim_buf_set_lines(0, 0, 1, false, {})
wait(function() return #lines() > 0 end)
said.after = lines()
local file = io.open('said', 'w')
file:write(vim.fn.json_encode(said))
file:close()
vim.cmd('qa!')
""" % (PATIENCE * 1000))
        done = self.edit("nvim", "--headless", self.file, "-c", f"lua local ok, why = pcall(dofile, '{script}'); "
                         "if not ok then io.stderr:write(why) vim.cmd('cq') end")
        self.assertTrue(os.path.exists(self.path("said")), done.stdout + done.stderr)
        said = json.loads(read(self.path("said")))
        self.assertEqual(said["filetype"], "c")
        self.assertEqual([one[:3] for one in said["before"]], [[7, 20, "TP052"]])
        self.assertIn("12 bytes", said["hover"])
        self.assertEqual(said["completion"], ["a"])
        self.assertEqual(said["definition"], {"line": 4, "character": 31})
        self.assertEqual([one[:3] for one in said["after"]], [[1, 1, "TP070"]])

    def test_emacs(self) -> None:
        need(self, "emacs")
        if run(["emacs", "--batch", "--eval", "(require 'eglot)"]).returncode:
            self.skipTest("eglot is not installed")
        block, = blocks("elisp")
        self.write(".emacs", block)
        script = self.write("check.el", """
(package-initialize) ; as Emacs does, but for --batch
(require 'eglot)
(setq eglot-sync-connect t eglot-connect-timeout %d)
(find-file "%s")
(princ (format "mode %%s\\n" major-mode))
(call-interactively #'eglot)
(defun wait (condition)
  (let ((end (+ (float-time) %d)))
    (while (and (not (funcall condition)) (< (float-time) end)) (accept-process-output nil 0.05))))
(defun found () (mapcar #'flymake-diagnostic-text (flymake-diagnostics)))
(flymake-mode 1)
(flymake-start)
(wait #'found)
(princ (format "found %%s\\n" (found)))
(goto-char (point-min))
(search-forward "%%s")
(replace-match "%%d" t t)
(eglot--signal-textDocument/didChange)
(wait (lambda () (not (found))))
(princ (format "now %%s\\n" (found)))
(goto-char (point-min))
(search-forward "TRACE_EVENT(")
(princ (format "hover %%s\\n" (plist-get (plist-get (jsonrpc-request (eglot--current-server-or-lose) :textDocument/hover
                                                     (eglot--TextDocumentPositionParams)) :contents) :value)))
(eglot-shutdown (eglot--current-server-or-lose))
""" % (PATIENCE, self.file, PATIENCE))
        done = self.edit("emacs", "--batch", "-l", self.path(".emacs"), "-l", script)
        self.assertIn("mode tp-mode\n", done.stdout)
        self.assertRegex(done.stdout, r"found \(.*%s.*\)\n")
        self.assertIn("now nil\n", done.stdout)
        self.assertIn("12 bytes", done.stdout)

    def test_vim(self) -> None:
        need(self, "vim")
        block, = blocks("vim")
        for setting, filetype in (("", "conf"), (block, "c")):
            self.write(".vim/ftdetect/tp.vim", setting)
            self.edit("vim", "-es", "-N", "-u", "NONE", "--cmd", f"set rtp^={self.path('.vim')}", "-c", "filetype plugin indent on",
                      "-c", f"edit {self.file}", "-c", f"call writefile([&filetype], '{self.path('said')}')", "-c", "qa!")
            self.assertEqual(read(self.path("said")).strip(), filetype)

    def test_json(self) -> None:
        settings, options = map(json.loads, blocks("json"))
        self.assertEqual(settings, {"files.associations": {"*.tp": "c"}})
        self.assertEqual(list(options), ["flags"])
