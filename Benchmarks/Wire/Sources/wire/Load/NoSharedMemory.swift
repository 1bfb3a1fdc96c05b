/// The session did not get shared memory.
struct NoSharedMemory: Error, CustomStringConvertible {
  var description: String { "The session has no shared memory." }
}
