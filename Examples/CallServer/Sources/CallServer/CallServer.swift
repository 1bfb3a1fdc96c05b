import SidelightClient

/// What a call server does with one participant's track: it sends frames as the camera makes them,
/// changes the filters in mid-call, and takes what comes back.
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

  /// Sends never wait: a frame that finds the window shut takes the place of the one that waits.
  static func send(_ camera: Camera, to session: FilterSession) async throws {
    for try await frame in camera {
      guard let sequence = await session.send(frame) else { return }
      if sequence == 45 { session.select(try Pipeline(text: "gaussianBlur(radius: 0.02w)")) }
    }
    session.finish()
  }
}
