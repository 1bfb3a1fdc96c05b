/**
 * Programs and commands that use a pipeline.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").Pipeline} Pipeline
 */

import { textOf } from "../shared/text.js";
import { toJson } from "../sidelight/index.js";

/**
 * @typedef {object} Language
 * @property {string} id
 * @property {string} label
 * @property {(pipeline: Pipeline, address: string) => string} snippet
 */

/** @type {Language[]} */
export const LANGUAGES = [
  { id: "python", label: "Python", snippet: (pipeline, address) => `\
${lifetime("#", address)}import sidelight

PIPELINE = ${literal(textOf(pipeline))}

with sidelight.connect(${literal(address)}) as server, server.session(PIPELINE) as session:
    with open("in.jpg", "rb") as file:
        photo = sidelight.Image.file(file.read())
    with session.filter(photo) as outcome:  # Live video: one call for each frame.
        print(outcome)
        with open("out.jpg", "wb") as file:
            file.write(outcome.image.data)
` },
  { id: "swift", label: "Swift", snippet: (pipeline, address) => `\
${lifetime("//", address)}import Foundation
import SidelightClient

let pipeline = try Pipeline(text: ${swiftLiteral(textOf(pipeline))})
let photo = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "in.jpg")))

try await SidelightClient.connect(to: Address(${swiftLiteral(address)})) { client in
  try await client.withSession(SessionOptions(pipeline: pipeline)) { session in
    _ = await session.send(VideoFrame(.jpeg(photo)))  // Live video: one call per frame.
    session.finish()
    for try await outcome in session.outcomes {
      guard let jpeg = outcome.picture?.jpeg else { continue }
      try Data(jpeg).write(to: URL(fileURLWithPath: "out.jpg"))
    }
  }
}
` },
  { id: "go", label: "Go", snippet: (pipeline, address) => `\
// In Sidelight's folder, after Examples/go/build:
// GO111MODULE=off GOPATH=$PWD/.build/go:/usr/share/gocode go run photo.go
${lifetime("//", address)}package main

import (
	"context"
	"log"
	"os"

	"sidelight.example/go/sidelight"
	pb "sidelight.example/go/sidelightv1"
)

func main() {
	ctx := context.Background()
	client, err := sidelight.Dial(${literal(address)})
	check(err)
	defer client.Close()
	session, err := client.Open(ctx, sidelight.Options{
		Pipeline: ${literal(textOf(pipeline))},
	})
	check(err)
	defer session.Close()

	photo, err := os.ReadFile("in.jpg")
	check(err)
	session.Offer(&pb.Frame{Image: &pb.Image{ // Live video: one call per frame.
		Format: pb.PixelFormat_PIXEL_FORMAT_JPEG,
		Pixels: &pb.Image_Inline{Inline: photo},
	}})
	outcome, err := session.Next(ctx)
	check(err)
	if frame, ok := outcome.(*sidelight.Returned); ok {
		check(os.WriteFile("out.jpg", frame.Image.GetInline(), 0o644))
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
` },
  { id: "shell", label: "Command line", snippet: (pipeline, address) => `\
${lifetime("#", address)}# A picture
sidelight apply in.jpg out.jpg --server ${shell(address)} \\
  --pipeline ${shell(textOf(pipeline))}

# A video
ffmpeg -i in.mp4 -pix_fmt yuv420p -f yuv4mpegpipe - |
  sidelight stream --server ${shell(address)} \\
    --pipeline ${shell(textOf(pipeline))} |
  ffmpeg -i - out.mp4
` },
  { id: "gstreamer", label: "gst-launch", snippet: (pipeline, address) => `\
# Needs GStreamer's bindings, and the package sidelight for the Python that has them
# (clients/python/docs/bridges.md).
${lifetime("#", address)}export GST_PLUGIN_PATH=$(python3 -m sidelight.gst)
gst-launch-1.0 videotestsrc is-live=true ! video/x-raw,format=I420,width=640,height=360 ! \\
  sidelightfilter address=${shell(address)} \\
    pipeline=${shell(gstreamer(textOf(pipeline)))} ! \\
  videoconvert ! autovideosink
` },
  { id: "json", label: "JSON", snippet: (pipeline) =>
    `${JSON.stringify(toJson("sidelight.v1.Pipeline", pipeline), null, 2)}\n` },
];

/**
 * Returns a comment about the studio's own socket; empty for other addresses.
 *
 * @param {string} mark The beginning of comments.
 * @param {string} address
 */
function lifetime(mark, address) {
  return address.includes("/sidelight-studio-")
    ? `${mark} The socket is gone when the studio ends; 'sidelight serve --listen' has one that stays.\n`
    : "";
}

/**
 * Returns a text as a literal of Python and Go.
 *
 * @param {string} text
 */
function literal(text) {
  return JSON.stringify(text);
}

/** @param {string} text */
function swiftLiteral(text) {
  // As many number signs as it takes so that nothing in the text ends the literal.
  const runs = [...text.matchAll(/["\\](#*)/g)].map(([, signs]) => signs.length + 1);
  const signs = "#".repeat(Math.max(0, ...runs));
  return `${signs}"${text}"${signs}`;
}

/**
 * Returns a text as one word of a shell.
 *
 * @param {string} text
 */
function shell(text) {
  return /^[\w.,:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Returns a text in the quotes of GStreamer's pipelines.
 *
 * @param {string} text
 */
function gstreamer(text) {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
