import SidelightClient

/// A call server with the track of one participant: it sends the frames of a camera, changes the filters
/// during the call, and handles the outcomes.
///
///     CallServer [ADDRESS]     default 127.0.0.1:50051
@main
struct CallServer {
  static func main() async throws {
    let address = try Address(CommandLine.arguments.dropFirst().first ?? "127.0.0.1:50051")
    let options = SessionOptions(
      pipeline: try Pipeline(text: "sepiaTone(intensity: 0.8), vignette(intensity: 1)"),
      label: "the track of participant 7")

    try await SidelightClient.connect(to: address) { client in
      try await client.withSession(options) { session in
        async let sending: Void = send(Camera(frameCount: 90), to: session)
        var tally = Tally()
        for try await event in session.events { tally.note(event) }
        try await sending
        print(tally)
      }
    }
  }

  /// Sends the frames of a camera. `send` never waits: while the window is closed, a new frame replaces the
  /// one that waits.
  static func send(_ camera: Camera, to session: FilterSession) async throws {
    for try await frame in camera {
      guard let sequence = await session.send(frame) else { return }
      if sequence == 45 { session.select(try Pipeline(text: "gaussianBlur(radius: 0.02w)")) }
    }
    session.finish()
  }
}
