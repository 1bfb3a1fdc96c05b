import CProfiler
import Foundation
import ServiceLifecycle

/// Profiles of this process. Linux only.
enum ProcessProfile {
  /// The errors of a request for a profile.
  enum Failure: Error {
    case isRunning
    case unavailable
  }

  /// The samples that there is room for are enough for all processors, or for 100 per second.
  private static func period(for duration: Duration) -> UInt32 {
    let processors = Double(ProcessInfo.processInfo.activeProcessorCount)
    let microseconds = duration / .microseconds(1) * processors
    return max(10_000, UInt32(microseconds / Double(CPROFILER_MAX_SAMPLES)))
  }

  /// Samples where the process spends its processor time, up to 100 times per second of it. Ends sooner
  /// when the server shuts down.
  ///
  /// - Returns: A profile in the format of gperftools, which `pprof` reads.
  /// - Throws: ``Failure``; `CancellationError`, after it has stopped.
  static func processorTime(for duration: Duration) async throws -> [UInt8] {
    let period = Self.period(for: duration)
    switch cprofiler_start(period) {
    case 0: break
    case -EBUSY: throw Failure.isRunning
    default: throw Failure.unavailable
    }
    await cancelWhenGracefulShutdown { try? await Task.sleep(for: duration) }
    var count = 0
    guard let words = cprofiler_stop(&count) else { throw Failure.unavailable }
    defer { free(words) }
    try Task.checkCancellation()
    // https://gperftools.github.io/gperftools/cpuprofile-fileformat.html: a header, samples, and an
    // end, in words of the machine; then the mapped files, to find functions by addresses.
    var all: [UInt64] = [0, 3, 0, UInt64(period), 0]
    all += UnsafeBufferPointer(start: words, count: count)
    all += [0, 1, 0]
    let maps = try FileHandle(forReadingAtPath: "/proc/self/maps")?.readToEnd() ?? Data()
    return all.withUnsafeBytes { Array($0) } + maps
  }

  /// The heaps of the allocator, as XML of `malloc_info`.
  ///
  /// - Throws: ``Failure``.
  static func heaps() throws(Failure) -> [UInt8] {
    guard let text = cprofiler_heaps() else { throw .unavailable }
    defer { free(text) }
    return Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
  }
}
