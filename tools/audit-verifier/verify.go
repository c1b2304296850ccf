package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"
)

const (
	holds       = 0
	unchecked   = 1
	unconfirmed = 3
	broken      = 6
)

const exportFormat = "drs-audit-export/1"
const proofFormat = "c2sp.org/tlog-proof@v1"

// The longest line of an export: one entry lists the events of one transaction.
const maxLine = 16 << 20

// line is a line of an export; encoding/json reads byte strings as base64.
type line struct {
	Format     string  `json:"format"`
	Checkpoint string  `json:"checkpoint"`
	New        bool    `json:"new"`
	Leaf       *uint64 `json:"leaf"`
	Hash       []byte  `json:"hash"`
	Record     []byte  `json:"record"`
	MAC        []byte  `json:"mac"`
}

type checkpoint struct {
	size    uint64
	root    []byte
	outside bool
}

type result struct {
	findings  []string
	size      uint64
	confirmed uint64
	waiting   int
	signed    bool
	unread    bool
}

func (r *result) find(format string, values ...any) {
	r.findings = append(r.findings, fmt.Sprintf(format, values...))
}

func (r *result) verdict() int {
	switch {
	case len(r.findings) > 0:
		return broken
	case r.unread || (!r.signed && r.size > 0):
		return unchecked
	case r.confirmed < r.size || r.waiting > 0:
		return unconfirmed
	default:
		return holds
	}
}

// openCheckpoint reads a signed checkpoint: origin, size and root, each in a line.
func openCheckpoint(verifier note.Verifier, text []byte) (checkpoint, error) {
	opened, err := note.Open(text, note.VerifierList(verifier))
	if err != nil {
		return checkpoint{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) < 4 || lines[0] != verifier.Name() {
		return checkpoint{}, errors.New("the checkpoint is of another log")
	}
	size, err := strconv.ParseUint(lines[1], 10, 64)
	if err != nil {
		return checkpoint{}, err
	}
	root, err := base64.StdEncoding.DecodeString(lines[2])
	return checkpoint{size: size, root: root}, err
}

func readLines(export io.Reader, each func(line) error) error {
	scanner := bufio.NewScanner(export)
	scanner.Buffer(nil, maxLine)
	for first := true; scanner.Scan(); first = false {
		var item line
		if err := json.Unmarshal(scanner.Bytes(), &item); err != nil {
			return err
		}
		if first != (item.Format != "") || (first && item.Format != exportFormat) {
			return fmt.Errorf("the file is no export in the format %s", exportFormat)
		}
		if !first {
			if err := each(item); err != nil {
				return err
			}
		}
	}
	return scanner.Err()
}

func leafOf(item line) []byte {
	return rfc6962.DefaultHasher.HashLeaf(append(append([]byte{}, item.Record...), item.MAC...))
}

func rootOf(tree *compact.Range) ([]byte, error) {
	if tree.End() == 0 {
		return rfc6962.DefaultHasher.EmptyRoot(), nil
	}
	return tree.GetRootHash(nil)
}

// verifyExport hashes all entries again and compares the tree with every checkpoint.
func verifyExport(key string, outside [][]byte, export io.Reader) (*result, error) {
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return nil, err
	}
	found := &result{}
	expected := openOutside(verifier, outside, found)
	factory := compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}
	tree := factory.NewEmptyRange(0)
	compare := func(one checkpoint) error {
		root, err := rootOf(tree)
		if err != nil {
			return err
		}
		if one.size != tree.End() || !bytes.Equal(root, one.root) {
			found.find("the first %d entries are not those of a checkpoint of %d", tree.End(), one.size)
			return nil
		}
		found.signed = true
		if one.outside {
			found.confirmed = one.size
		}
		return nil
	}
	err = readLines(export, func(item line) error {
		switch {
		case item.Checkpoint != "":
			one, err := openCheckpoint(verifier, []byte(item.Checkpoint))
			if err != nil {
				found.find("a checkpoint after entry %d: %v", tree.End(), err)
				return nil
			}
			return compare(one)
		case item.New:
			found.waiting++
			return nil
		case item.Leaf == nil:
			return errors.New("a line of the export is neither an entry nor a checkpoint")
		}
		if *item.Leaf != tree.End() {
			found.find("leaf %d is where leaf %d should be", *item.Leaf, tree.End())
		}
		if item.Record == nil {
			found.find("the entry of leaf %d is missing", *item.Leaf)
		} else if !bytes.Equal(leafOf(item), item.Hash) {
			found.find("the entry of leaf %d was changed", *item.Leaf)
		}
		if err := tree.Append(item.Hash, nil); err != nil {
			return err
		}
		for len(expected) > 0 && expected[0].size <= tree.End() {
			if err := compare(expected[0]); err != nil {
				return err
			}
			expected = expected[1:]
		}
		return nil
	})
	for _, one := range expected {
		found.find("a checkpoint kept outside has %d entries, the log has %d", one.size, tree.End())
	}
	found.size = tree.End()
	return found, err
}

func openOutside(verifier note.Verifier, texts [][]byte, found *result) []checkpoint {
	var opened []checkpoint
	for _, text := range texts {
		one, err := openCheckpoint(verifier, text)
		switch {
		case err != nil:
			found.unread = true
		case one.size > 0:
			one.outside = true
			opened = append(opened, one)
		}
	}
	sort.Slice(opened, func(one, other int) bool { return opened[one].size < opened[other].size })
	return opened
}

// verifyProof checks an inclusion proof, whose entry is taken from the export.
func verifyProof(key, text string, export io.Reader) error {
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return err
	}
	head, signed, ok := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	if !ok || len(lines) < 2 || lines[0] != proofFormat {
		return fmt.Errorf("the file is no proof in the format %s", proofFormat)
	}
	index, err := strconv.ParseUint(strings.TrimPrefix(lines[1], "index "), 10, 64)
	if err != nil {
		return err
	}
	var hashes [][]byte
	for _, encoded := range lines[2:] {
		hash, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return err
		}
		hashes = append(hashes, hash)
	}
	one, err := openCheckpoint(verifier, []byte(signed))
	if err != nil {
		return err
	}
	err = errors.New("the export does not have the entry of the proof")
	readErr := readLines(export, func(item line) error {
		if item.Leaf != nil && *item.Leaf == index {
			err = proof.VerifyInclusion(rfc6962.DefaultHasher, index, one.size, leafOf(item), hashes, one.root)
		}
		return nil
	})
	return errors.Join(err, readErr)
}
