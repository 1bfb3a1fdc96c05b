import BenchmarkClient
import BenchmarkSupport
import Foundation

/// The client of the transport benchmark, and measurements without a transport; `bench.py` runs it.
///
///     wire load --address ADDRESS [--client library|generated] ...   see LoadOptions
///     wire open --address ADDRESS --streams N ...                    the first frames of sessions
///     wire features --address ADDRESS                                features of the server
///     wire kernel --format FORMAT --size WxH --work WORK             a pipeline without a transport
///     wire jpeg --size WxH --work WORK                               decode, pipeline, encode
@main
struct Wire {
  static func main() async {
    do {
      let verb = CommandLine.arguments.dropFirst().first ?? ""
      let options = try LoadOptions(CommandLine.arguments.dropFirst(2))
      switch verb {
      case "load": try await Load(options).run()
      case "open": try await FirstFrames(options).run()
      case "features":
        let features = try await Connection.open(to: options.address) { try await $0.features() }
        StandardOutput.printLine(features.joined(separator: " "))
      case "kernel": try await KernelTime(options).run()
      case "jpeg": try await JPEGTime(options).run()
      default:
        throw UsageError(description: "'\(verb)' is none of load, open, features, kernel, jpeg.")
      }
    } catch {
      FileHandle.standardError.write(Data("wire: \(error)\n".utf8))
      exit(2)
    }
  }
}
