import SidelightClient

/// A call server's handling of one participant's track: it filters the camera's frames, changes the
/// pipeline during the call, and relays the frames that come back.
///
///     CallServer [ADDRESS]     default 127.0.0.1:50051
@main
struct CallServer {
  static func main() async throws {
    let address = try Address(CommandLine.arguments.dropFirst().first ?? "127.0.0.1:50051")
    let options = SessionOptions(
      pipeline: [.sepiaTone(intensity: 0.8), .vignette(intensity: 1)],
      label: "the track of participant 7")

    try await SidelightClient.connect(to: address) { client in
      try await client.withSession(options) { session in
        var count = 0
        var revisions: Set<UInt64> = []
        var isBlurred = false
        for try await frame in session.filter(Camera(frameCount: 90)) {
          // A call server relays `frame.picture` to the other participants here.
          count += 1
          revisions.insert(frame.revision)
          if frame.sequence >= 45, !isBlurred {
            session.select([.gaussianBlur(radius: .width(0.02))])
            isBlurred = true
          }
        }
        let dropped = session.counts.dropped.map { reason, count in
          "; \(count) dropped (\(reason.rawValue))"
        }
        print(
          "\(count) frames came back, filtered by \(revisions.count) pipelines"
            + dropped.sorted().joined())
      }
    }
  }
}
