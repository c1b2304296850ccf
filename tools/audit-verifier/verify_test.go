package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
)

// manifest lists the logs that make-logs.ts wrote, with the verdict of the server's verifier.
type manifest struct {
	Key   string `json:"key"`
	Other string `json:"other_key"`
	Logs  []struct {
		Name        string   `json:"name"`
		Export      string   `json:"export"`
		Checkpoints []string `json:"checkpoints"`
		Verdict     int      `json:"verdict"`
	} `json:"logs"`
	Proofs []struct {
		Name    string `json:"name"`
		Export  string `json:"export"`
		Proof   string `json:"proof"`
		Verdict int    `json:"verdict"`
	} `json:"proofs"`
	Consistency []struct {
		First  uint64   `json:"first"`
		Second uint64   `json:"second"`
		Root1  []byte   `json:"root1"`
		Root2  []byte   `json:"root2"`
		Hashes [][]byte `json:"hashes"`
	} `json:"consistency"`
}

func readManifest(t *testing.T) (manifest, string) {
	t.Helper()
	folder := os.Getenv("AUDIT_LOGS")
	if folder == "" {
		t.Fatal("AUDIT_LOGS names the folder that make-logs.ts wrote")
	}
	text, err := os.ReadFile(filepath.Join(folder, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var read manifest
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	return read, folder
}

func TestLogs(t *testing.T) {
	read, folder := readManifest(t)
	for _, log := range read.Logs {
		t.Run(log.Name, func(t *testing.T) {
			args := []string{"-key", read.Key}
			for _, name := range log.Checkpoints {
				args = append(args, "-checkpoint", filepath.Join(folder, name))
			}
			code, err := run(append(args, filepath.Join(folder, log.Export)), io.Discard)
			if code != log.Verdict {
				t.Errorf("the exit code is %d (%v), and that of the server's verifier is %d", code, err, log.Verdict)
			}
		})
	}
}

func TestProofs(t *testing.T) {
	read, folder := readManifest(t)
	for _, one := range read.Proofs {
		t.Run(one.Name, func(t *testing.T) {
			proofFile, export := filepath.Join(folder, one.Proof), filepath.Join(folder, one.Export)
			code, err := run([]string{"-key", read.Key, "-proof", proofFile, export}, io.Discard)
			if code != one.Verdict {
				t.Errorf("the exit code is %d (%v)", code, err)
			}
			if code, _ := run([]string{"-key", read.Other, "-proof", proofFile, export}, io.Discard); code == holds {
				t.Error("another key is accepted")
			}
		})
	}
}

func TestConsistency(t *testing.T) {
	read, _ := readManifest(t)
	if len(read.Consistency) == 0 {
		t.Fatal("there is no proof")
	}
	for _, one := range read.Consistency {
		if err := proof.VerifyConsistency(rfc6962.DefaultHasher, one.First, one.Second, one.Hashes, one.Root1, one.Root2); err != nil {
			t.Errorf("%d to %d: %v", one.First, one.Second, err)
		}
		one.Root2[0] ^= 1
		if proof.VerifyConsistency(rfc6962.DefaultHasher, one.First, one.Second, one.Hashes, one.Root1, one.Root2) == nil {
			t.Errorf("%d to %d: another root is accepted", one.First, one.Second)
		}
	}
}

func TestManyFindings(t *testing.T) {
	read, _ := readManifest(t)
	const entries = 30_000
	for name, leaf := range map[string]string{
		"missing entries":     `{"leaf":%d,"hash":"%s"}`,
		"entries without MAC": `{"leaf":%d,"hash":"%s","record":"%s","mac":"","unverified":true}`,
	} {
		t.Run(name, func(t *testing.T) {
			export := filepath.Join(t.TempDir(), "export")
			var text strings.Builder
			fmt.Fprintf(&text, "{\"format\":%q}\n", exportFormat)
			for index := range entries {
				record := []byte(strconv.Itoa(index))
				hash := base64.StdEncoding.EncodeToString(rfc6962.DefaultHasher.HashLeaf(record))
				values := []any{index, hash, base64.StdEncoding.EncodeToString(record)}
				fmt.Fprintf(&text, leaf+"\n", values[:strings.Count(leaf, "%")]...)
			}
			if err := os.WriteFile(export, []byte(text.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			code, err := run([]string{"-key", read.Key, export}, &out)
			if code != broken || err != nil {
				t.Errorf("the exit code is %d (%v)", code, err)
			}
			lines := strings.Split(out.String(), "\n")
			if more := fmt.Sprintf("%d more findings", entries-100); len(lines) != 103 || lines[100] != more {
				t.Errorf("%d lines, and line 101 is %q", len(lines), lines[min(100, len(lines)-1)])
			}
		})
	}
}

func TestFindingsUntilReview(t *testing.T) {
	l := &log{result: &result{}, open: map[string]string{}}
	for index := range maxTexts + 5 {
		l.findUntilReview(strconv.Itoa(index), "a finding")
	}
	texts := 0
	for _, what := range l.open {
		if what != "" {
			texts++
		}
	}
	if len(l.open) != maxTexts+5 || texts != maxTexts {
		t.Errorf("%d wait for a review, %d with a text", len(l.open), texts)
	}
}

func TestUsage(t *testing.T) {
	read, folder := readManifest(t)
	export := filepath.Join(folder, read.Logs[0].Export)
	for _, args := range [][]string{
		{},
		{export},
		{"-key", "no key", export},
		{"-key", read.Key, filepath.Join(folder, "absent")},
		{"-key", read.Key, filepath.Join(folder, "manifest.json")},
		{"-key", read.Key, "-checkpoint", filepath.Join(folder, "absent"), export},
	} {
		if code, _ := run(args, io.Discard); code != unchecked {
			t.Errorf("%q ends with %d", args, code)
		}
	}
}
