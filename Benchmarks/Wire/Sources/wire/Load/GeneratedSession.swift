import BenchmarkClient
import BenchmarkSupport
import Contract
import Foundation
import GRPCCore
import SidelightClient
import SwiftProtobuf

/// A session of generated code, as a client without the library has it.
struct GeneratedSession: Sendable {
  private let options: LoadOptions
  private let image: Sidelight_V1_Image
  private let barrier: SessionBarrier

  /// - Throws: `UsageError` for options that only the library supports.
  init(options: LoadOptions, picture: Frame, barrier: SessionBarrier) throws {
    guard options.framesPerSecond == nil, options.work != .five else {
      throw UsageError(description: "Generated code sends no such load.")
    }
    self.options = options
    self.barrier = barrier
    self.image = try .with { image in
      image.width = UInt32(options.geometry.size.width)
      image.height = UInt32(options.geometry.size.height)
      if let quality = options.jpegQuality {
        image.format = .jpeg
        image.inline = Data(try JPEGCodec(options.geometry.size).encode(picture, quality: quality))
      } else {
        image.format = Self.format(options.geometry.format)
        image.inline = Data(Picture.bytes(picture))
      }
    }
  }

  /// Sends until the run is over, then waits for the frames in flight.
  func run(on connection: Connection, _ recorder: SessionRecorder) async throws {
    let (turns, turn) = AsyncStream.makeStream(of: Void.self)
    try await connection.stub.process(options: connection.callOptions) { writer in
      try await writer.write(self.open)
      var message = Sidelight_V1_ClientMessage()
      message.frame.image = self.image
      for await _ in turns {
        message.frame.sequence += 1
        recorder.send()
        try await writer.write(message)
      }
    } onResponse: { response in
      for try await message in response.messages {
        switch message.kind {
        case .opened?:
          self.barrier.open()
          for _ in 0 ..< self.options.inFlight { turn.yield() }
        case .frame(let frame)?:
          recorder.arrive(work: .microseconds(frame.timing.processUs))
          try self.check(frame)
          self.goOn(turn)
        case .dropped(let dropped)?:
          for _ in 0 ..< dropped.count {
            recorder.drop()
            self.goOn(turn)
          }
        default: break
        }
      }
    }
  }

  private func goOn(_ turn: AsyncStream<Void>.Continuation) {
    if self.barrier.isOver {
      turn.finish()
    } else {
      turn.yield()
    }
  }

  private func check(_ frame: Sidelight_V1_FilteredFrame) throws {
    guard frame.sequence == 1, self.options.work == .none, self.options.jpegQuality == nil else {
      return
    }
    guard frame.image.inline == self.image.inline else { throw WrongPicture() }
  }

  private var open: Sidelight_V1_ClientMessage {
    .with {
      $0.open.dropPolicy = .neverDrop
      $0.open.mailboxDepth = UInt32(self.options.inFlight)
      if self.options.work == .vintage {
        $0.open.pipeline.stages = [.with { $0.filter.name = "vintage" }]
      }
      if let quality = self.options.jpegQuality {
        $0.open.output.format = .jpeg
        $0.open.output.jpegQuality = UInt32(quality)
      }
    }
  }

  private static func format(_ format: PixelFormat) -> Sidelight_V1_PixelFormat {
    switch format {
    case .bgra8: .bgra8
    case .rgba8: .rgba8
    case .rgb24: .rgb24
    case .gray8: .gray8
    case .i420: .i420
    case .nv12: .nv12
    }
  }
}
