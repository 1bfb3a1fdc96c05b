// Command call runs a call of two peers in one process: a participant with a generated camera, and
// a media server that sends the participant's track back, filtered by Sidelight.
//
//	call 127.0.0.1:50051 'colorInvert @region(0, 0.25h, 1w, 0.75h)' 15
//
// Every line of the input is a command: `select TEXT`, `update STAGE PARAMETER NUMBER`, `end`. Every
// line of the output is an event.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pion/webrtc/v3"

	"sidelight.example/go/bridge"
	"sidelight.example/go/sidelight"
	"sidelight.example/go/vp8"
)

const (
	kilobits      = 1000
	answerTimeout = 10 * time.Second
	// The RTP timestamp of the picture with number 0. The ticks of a picture do not depend on the
	// frame rate, so every timestamp names its picture.
	firstTimestamp  = 1_000_000
	ticksPerPicture = 3000
)

// number returns the number of the picture with an RTP timestamp.
func number(timestamp uint32) int { return int(timestamp-firstTimestamp) / ticksPerPicture }

func main() {
	if len(os.Args) != 4 {
		fail("usage: call ADDRESS PIPELINE FPS")
	}
	fps, err := strconv.ParseFloat(os.Args[3], 64)
	if err != nil || fps <= 0 || fps > 120 {
		fail("FPS is " + os.Args[3] + "; it must be more than 0 and at most 120")
	}
	if err := run(os.Args[1], os.Args[2], fps); err != nil {
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

func run(address, pipeline string, fps float64) error {
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
		Kilobits: kilobits,
		// The camera is generated: no pipeline hides anything of it.
		ShowsUnfiltered: true,
		OnOutcome:       sayOutcome,
		OnConnection:    sayConnection,
	})
	if err != nil {
		return err
	}
	participant, err := newPeer()
	if err != nil {
		return err
	}
	defer participant.Close()
	mediaServer, err := newPeer()
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
	source, err := bridge.NewWriter("camera", kilobits)
	if err != nil {
		return err
	}
	defer source.Close()
	if _, err := participant.AddTrack(source.Track); err != nil {
		return err
	}
	participant.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		_ = bridge.Read(track, func() {}, show)
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
	go func() { captured <- capture(source, fps, stop) }()
	readCommands(filter)
	close(stop)
	count := <-captured
	filter.Close()
	say("counts captured %d unfiltered %d written %d", count, filter.Unfiltered(),
		filter.Output().Count())
	return nil
}

// capture sends pictures until it is stopped, and returns their number.
func capture(source *bridge.Writer, fps float64, stop chan struct{}) int {
	ticker := time.NewTicker(time.Duration(float64(time.Second) / fps))
	defer ticker.Stop()
	for count := 0; ; count++ {
		select {
		case <-stop:
			return count
		case <-ticker.C:
			picture, luma := camera(count)
			say("captured %d %d", count, luma)
			if err := source.Write(picture, uint32(firstTimestamp+count*ticksPerPicture)); err != nil {
				say("the camera failed: %v", err)
			}
		}
	}
}

// show prints the number in a picture that arrived, the number of its timestamp, and its luma.
func show(picture *vp8.Picture, timestamp uint32) {
	counter, luma := inspect(picture)
	say("shown %d %d %d", counter, number(timestamp), luma)
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

func readCommands(filter *bridge.Filter) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		if verb == "end" {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
		sayAnswer(execute(ctx, filter, verb, rest))
		cancel()
	}
}

func execute(ctx context.Context, filter *bridge.Filter, verb, rest string) (uint64, error) {
	switch verb {
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
