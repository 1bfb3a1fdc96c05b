package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/pion/webrtc/v3"

	"sidelight.example/go/bridge"
)

const (
	ivfHeaderSize      = 32
	ivfFrameHeaderSize = 12
)

// video is the contents of an IVF file.
type video struct {
	header   []byte
	mimeType string
	interval time.Duration
	frames   []bridge.Frame
}

// readVideo reads an IVF file, whose first frame must be a key frame.
func readVideo(path string) (*video, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	video, err := parseVideo(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %v", path, err)
	}
	return video, nil
}

func parseVideo(file []byte) (*video, error) {
	if len(file) < ivfHeaderSize || !bytes.HasPrefix(file, []byte("DKIF")) {
		return nil, errors.New("the file is not an IVF file")
	}
	mimeTypes := map[string]string{"VP80": webrtc.MimeTypeVP8, "H264": webrtc.MimeTypeH264}
	code := string(file[8:12])
	rate := binary.LittleEndian.Uint32(file[16:])
	scale := binary.LittleEndian.Uint32(file[20:])
	if mimeTypes[code] == "" {
		return nil, fmt.Errorf("the codec is %q; it must be VP80 or H264", code)
	}
	if scale == 0 || rate < scale || rate/scale > 120 {
		return nil, fmt.Errorf("the frame rate is %d/%d; it must be 1 to 120", rate, scale)
	}
	result := &video{
		header:   file[:ivfHeaderSize],
		mimeType: mimeTypes[code],
		interval: time.Duration(float64(time.Second) * float64(scale) / float64(rate)),
	}
	for rest := file[ivfHeaderSize:]; len(rest) > 0; {
		if len(rest) < ivfFrameHeaderSize {
			return nil, errors.New("the file ends within the header of a frame")
		}
		size := uint64(binary.LittleEndian.Uint32(rest))
		if rest = rest[ivfFrameHeaderSize:]; uint64(len(rest)) < size {
			return nil, errors.New("the file ends within a frame")
		}
		frame, err := bridge.NewFrame(result.mimeType, rest[:size])
		if err != nil {
			return nil, err
		}
		result.frames = append(result.frames, *frame)
		rest = rest[size:]
	}
	if len(result.frames) == 0 || !result.frames[0].IsKeyFrame {
		return nil, errors.New("the file must begin with a key frame")
	}
	return result, nil
}

// videoWriter writes the frames that arrive to an IVF file.
type videoWriter struct{ file *os.File }

// newVideoWriter creates a file with the codec, size and rate of a video.
func newVideoWriter(path string, like *video) (*videoWriter, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if _, err := file.Write(like.header); err != nil {
		return nil, err
	}
	return &videoWriter{file}, nil
}

// show writes a frame, with the number of its picture as its time.
func (w *videoWriter) show(frame *bridge.Frame) {
	header := make([]byte, ivfFrameHeaderSize, ivfFrameHeaderSize+len(frame.Data))
	binary.LittleEndian.PutUint32(header, uint32(len(frame.Data)))
	binary.LittleEndian.PutUint64(header[4:], uint64(number(frame.Timestamp)))
	if _, err := w.file.Write(append(header, frame.Data...)); err != nil {
		say("the output failed: %v", err)
		return
	}
	kind := "delta"
	if frame.IsKeyFrame {
		kind = "key"
	}
	say("shown %d %s %d", number(frame.Timestamp), kind, len(frame.Data))
}

func (w *videoWriter) close() { _ = w.file.Close() }
