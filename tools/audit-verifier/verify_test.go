package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
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
