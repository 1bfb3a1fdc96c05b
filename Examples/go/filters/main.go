// Command filters is a filter process with one filter, which swaps left and right:
//
//	sidelight apply in.png out.png --filter-process .build/go/filters --pipeline goMirror
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"syscall"

	"google.golang.org/grpc"

	pb "sidelight.example/go/sidelightv1"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	socket := os.Getenv("SIDELIGHT_FILTER_SOCKET")
	if socket == "" {
		return fmt.Errorf("start it with: sidelight serve --filter-process %s", os.Args[0])
	}
	memory, err := mapped(os.Getenv("SIDELIGHT_FILTER_MEMORY"))
	if err != nil {
		return err
	}
	connection, err := grpc.Dial("unix:"+socket, grpc.WithInsecure())
	if err != nil {
		return err
	}
	defer connection.Close()
	host, err := pb.NewFilterHostClient(connection).Attach(context.Background())
	if err != nil {
		return err
	}
	err = host.Send(&pb.ProcessMessage{Kind: &pb.ProcessMessage_Hello_{
		Hello: &pb.ProcessMessage_Hello{
			Versions: []uint32{1},
			Token:    os.Getenv("SIDELIGHT_FILTER_TOKEN"),
			Filters: []*pb.FilterOffer{{
				Filter: &pb.FilterDescription{Name: "goMirror", Summary: "Swaps left and right."},
				Format: pb.PixelFormat_PIXEL_FORMAT_BGRA8,
			}},
			Library: "the Go example",
		},
	}})
	for err == nil {
		var message *pb.HostMessage
		if message, err = host.Recv(); err != nil {
			break
		}
		if opened := message.GetOpenSession(); opened != nil {
			err = host.Send(&pb.ProcessMessage{Kind: &pb.ProcessMessage_Opened_{
				Opened: &pb.ProcessMessage_Opened{Session: opened.Session},
			}})
		} else if frame := message.GetFrame(); frame != nil {
			mirror(memory, frame.Input)
			err = host.Send(&pb.ProcessMessage{Kind: &pb.ProcessMessage_Result_{
				Result: &pb.ProcessMessage_Result{Frame: frame.Frame},
			}})
		}
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// mapped returns the memory of an inherited descriptor.
func mapped(number string) ([]byte, error) {
	descriptor, err := strconv.Atoi(number)
	if err != nil {
		return nil, fmt.Errorf("SIDELIGHT_FILTER_MEMORY is %q; it must be a number", number)
	}
	var status syscall.Stat_t
	if err := syscall.Fstat(descriptor, &status); err != nil {
		return nil, err
	}
	return syscall.Mmap(descriptor, 0, int(status.Size),
		syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

// mirror swaps the pixels of every row.
func mirror(memory []byte, picture *pb.HostMessage_Picture) {
	plane, width := picture.Planes[0], int(picture.Width)
	for y := 0; y < int(picture.Height); y++ {
		start := int(plane.Offset) + y*int(plane.Stride)
		row := memory[start : start+4*width]
		for x := 0; x < width/2; x++ {
			var left, right [4]byte
			copy(left[:], row[4*x:])
			copy(right[:], row[4*(width-1-x):])
			copy(row[4*x:], right[:])
			copy(row[4*(width-1-x):], left[:])
		}
	}
}
