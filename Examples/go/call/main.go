// Command call runs a call of two peers in one process: a participant that sends the video of a
// file, again and again, and a media server that sends the participant's track back, filtered by
// Sidelight. The participant writes the filtered track to another file. Both files are IVF, with VP8
// or H.264.
//
//	call 127.0.0.1:50051 'colorInvert @region(0, 0.25h, 1w, 0.75h)' in.ivf out.ivf
//
// Every line of the input is a command: `select TEXT`, `update STAGE PARAMETER NUMBER`, `pause`,
// `resume`, `estimate BITS_PER_SECOND`, `refresh`, `end`. Every line of the output is an event.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v3"

	"sidelight.example/go/bridge"
	"sidelight.example/go/sidelight"
)

const (
	answerTimeout = 10 * time.Second
	// The RTP timestamp of the picture with number 0. The ticks of a picture do not depend on the
	// frame rate, so every timestamp names its picture.
	firstTimestamp  = 1_000_000
	ticksPerPicture = 3000
)

// number returns the number of the picture with an RTP timestamp.
func number(timestamp uint32) int { return int(timestamp-firstTimestamp) / ticksPerPicture }

func main() {
	if len(os.Args) != 5 {
		fail("usage: call ADDRESS PIPELINE INPUT.ivf OUTPUT.ivf")
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fail(err.Error())
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(1)
}

var output sync.Mutex

// say prints an event. Goroutines do not mix their lines.
func say(format string, values ...interface{}) {
	output.Lock()
	defer output.Unlock()
	fmt.Printf(format+"\n", values...)
}

func run(address, pipeline, input, output string) error {
	video, err := readVideo(input)
	if err != nil {
		return err
	}
	screen, err := newVideoWriter(output, video)
	if err != nil {
		return err
	}
	defer screen.close()
	options, err := dialOptions()
	if err != nil {
		return err
	}
	client, err := sidelight.Dial(address, options...)
	if err != nil {
		return err
	}
	defer client.Close()
	filter, err := bridge.NewFilter(client, bridge.Options{
		Options:  sidelight.Options{Pipeline: pipeline, Label: "camera"},
		MimeType: video.mimeType,
		// No pipeline hides anything of the file.
		ShowsUnfiltered: true,
		OnOutcome:       sayOutcome,
		OnConnection:    sayConnection,
	})
	if err != nil {
		return err
	}
	participant, err := newPeer(video.mimeType, nil)
	if err != nil {
		return err
	}
	defer participant.Close()
	mediaServer, err := newPeer(video.mimeType, func(bitRate uint32) {
		filter.SetBitRate(bitRate)
		say("link %d", bitRate)
	})
	if err != nil {
		return err
	}
	defer mediaServer.Close()

	// The media server filters the participant's track, and sends it back.
	sender, err := mediaServer.AddTrack(filter.Output().Track)
	if err != nil {
		return err
	}
	go filter.ReadRequests(sender)
	mediaServer.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		_ = filter.Read(track, mediaServer)
	})

	// The participant has a camera, and a screen for the filtered track.
	source, err := bridge.NewWriter("camera", video.mimeType)
	if err != nil {
		return err
	}
	defer source.Close()
	cameraSender, err := participant.AddTrack(source.Track)
	if err != nil {
		return err
	}
	camera := &camera{video: video, output: source}
	go func() { _ = bridge.ReadRequests(cameraSender, camera.skip, func(uint32) {}) }()
	receiver := &receiver{peer: participant}
	participant.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		receiver.setTrack(track)
		err := bridge.Read(track, receiver.requestKeyFrame, screen.show)
		say("track ended %v", err)
	})
	connected := make(chan struct{})
	var once sync.Once
	participant.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		say("peer %s", state)
		if state == webrtc.PeerConnectionStateConnected {
			once.Do(func() { close(connected) })
		}
	})
	if err := connect(participant, mediaServer); err != nil {
		return err
	}
	<-connected

	stop := make(chan struct{})
	captured := make(chan int)
	go func() { captured <- camera.capture(stop) }()
	readCommands(filter, receiver)
	close(stop)
	count := <-captured
	filter.Close()
	say("counts captured %d unfiltered %d written %d", count, filter.Unfiltered(),
		filter.Output().Count())
	return nil
}

// receiver sends the requests of the participant to the media server.
type receiver struct {
	peer  *webrtc.PeerConnection
	mutex sync.Mutex
	ssrc  uint32
}

func (r *receiver) setTrack(track *webrtc.TrackRemote) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.ssrc = uint32(track.SSRC())
}

func (r *receiver) requestKeyFrame() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	_ = r.peer.WriteRTCP([]rtcp.Packet{&rtcp.PictureLossIndication{MediaSSRC: r.ssrc}})
}

// estimate tells the media server the bit rate that the participant can receive.
func (r *receiver) estimate(bitRate float32) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.peer.WriteRTCP([]rtcp.Packet{
		&rtcp.ReceiverEstimatedMaximumBitrate{Bitrate: bitRate, SSRCs: []uint32{r.ssrc}},
	})
}

func sayOutcome(outcome sidelight.Outcome) {
	switch outcome := outcome.(type) {
	case *sidelight.Returned:
		say("outcome %d %d %s %d", outcome.Sequence, number(outcome.RtpTimestamp),
			strings.TrimPrefix(outcome.Disposition.String(), "DISPOSITION_"), outcome.Revision)
	case *sidelight.Dropped:
		say("dropped %d %d %s", outcome.First, outcome.Last, outcome.Reason)
	}
}

func sayConnection(err error) {
	if err != nil {
		say("lost %v", err)
	} else {
		say("reopened")
	}
}

func readCommands(filter *bridge.Filter, receiver *receiver) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		if verb == "end" {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
		sayAnswer(execute(ctx, filter, receiver, verb, rest))
		cancel()
	}
}

func execute(
	ctx context.Context, filter *bridge.Filter, receiver *receiver, verb, rest string,
) (uint64, error) {
	switch verb {
	case "pause":
		return 0, filter.Session().Pause(ctx, false)
	case "resume":
		return 0, filter.Session().Resume(ctx)
	case "refresh":
		receiver.requestKeyFrame()
		return 0, nil
	case "estimate":
		var bitRate float32
		if _, err := fmt.Sscan(rest, &bitRate); err != nil {
			return 0, err
		}
		return 0, receiver.estimate(bitRate)
	case "select":
		return filter.Select(ctx, rest)
	case "update":
		var stage, parameter string
		var value float64
		if _, err := fmt.Sscan(rest, &stage, &parameter, &value); err != nil {
			return 0, err
		}
		return filter.Session().Update(ctx, stage, parameter, value)
	default:
		return 0, fmt.Errorf("unknown command %q", verb)
	}
}

func sayAnswer(revision uint64, err error) {
	failure, isError := err.(*sidelight.Error)
	switch {
	case err == nil:
		say("accepted %d", revision)
	case isError:
		message, _, _ := strings.Cut(failure.Message, "\n")
		say("refused %s%s%s%s%s: %s", failure.Field, part("column", failure.Column),
			part("value", failure.Value), part("limit", failure.Limit),
			part("suggestion", failure.Suggestion), message)
	default:
		say("refused %v", err)
	}
}

// part returns a name and its value, or an empty text if the value is empty.
func part(name string, value interface{}) string {
	if value == "" || value == 0 {
		return ""
	}
	return fmt.Sprintf(" %s %v", name, value)
}
