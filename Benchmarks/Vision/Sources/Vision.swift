import BenchmarkSupport
import Foundation
import SidelightKernels

/// Scene filters on frames of a file, without a server. `bench.py` draws the frames, and sends
/// requests on standard input:
///
///     hello                                    NAME
///     run WORK FORMAT WIDTH HEIGHT FRAMES INTERVAL JOBTIME IN OUT   the figures as JSON
///
/// INTERVAL is the time between frames, and JOBTIME the time after which the result of a job
/// arrives, in milliseconds. OUT may be "-".
@main
struct Vision {
  static func main() async throws {
    let setup = try Setup(Array(CommandLine.arguments.dropFirst()))
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      switch words.first {
      case "hello":
        StandardOutput.printLine("Sidelight, rows for \(InstructionSet.current.rawValue)")
      case "run":
        do {
          let request = try Request(words.dropFirst().map { $0 })
          StandardOutput.printLine(try await Self.run(request, setup))
        } catch let error as UsageError {
          StandardOutput.printLine("skip \(error)")
        } catch let error as PipelineError {
          StandardOutput.printLine("skip \(error.message)")
        }
      default: StandardOutput.printLine("skip unknown request")
      }
    }
  }

  private static func run(_ request: Request, _ setup: Setup) async throws -> String {
    let compute = ComputePool(threadCount: 1)
    defer { compute.shutdown() }
    let figures = try await withTaskExecutorPreference(compute) {
      try await StreamRun(request, setup, compute).figures()
    }
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return String(decoding: try encoder.encode(figures), as: UTF8.self)
  }
}

/// One run of a pipeline over the frames of a file.
struct Request {
  let work: Work
  let format: PixelFormat
  let size: FrameSize
  let frameCount: Int
  /// The time between frames.
  let interval: Duration
  /// The time after which the result of a job, such as a search, arrives.
  let jobTime: Duration
  let input: String
  /// The file of the results; `nil` if they are not kept.
  let output: String?

  init(_ words: [String]) throws {
    guard words.count == 9, let work = Work.all[words[0]],
      let format = PixelFormat(rawValue: words[1]), let width = Int(words[2]),
      let height = Int(words[3]), let frameCount = Int(words[4]),
      let interval = Double(words[5]), let jobTime = Double(words[6])
    else { throw UsageError(description: "unknown work or format") }
    self.work = work
    self.format = format
    self.size = FrameSize(width: width, height: height)
    self.frameCount = frameCount
    self.interval = .seconds(interval / 1000)
    self.jobTime = .seconds(jobTime / 1000)
    self.input = words[7]
    self.output = words[8] == "-" ? nil : words[8]
  }

  var geometry: FrameGeometry {
    FrameGeometry(format: self.format, size: self.size)
  }
}
