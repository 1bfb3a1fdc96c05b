import FuzzDriver
import GRPCProtobuf
import SidelightWire
import SwiftProtobuf

@testable import SidelightUploads

// The messages of an upload, each after its length in two bytes. The result must equal the result
// of a naive implementation of the contract: the complete file, or an error that fits into headers.

typealias Request = Sidelight_V1_PutAssetRequest

let maxFileBytes = 256

/// Returns the messages of the input, up to the first invalid one.
func messages(_ input: RawSpan) -> [Request] {
  var rest = input.withUnsafeBytes { [UInt8]($0) }[...]
  var messages: [Request] = []
  while rest.count >= 2 {
    let count = Int(rest.removeFirst()) | Int(rest.removeFirst()) << 8
    guard let message = try? Request(serializedBytes: Array(rest.prefix(count))) else { break }
    messages.append(message)
    rest = rest.dropFirst(count)
  }
  return messages
}

/// Returns the expected file; `nil` if the messages are invalid.
func expected(_ messages: [Request]) -> [UInt8]? {
  guard case .header(let header)? = messages.first?.part,
    header.name.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._\-\/]{0,63}/) != nil,
    header.name != "source", header.sha256.isEmpty || header.sha256.count == 32,
    (1 ... UInt64(maxFileBytes)).contains(header.sizeBytes)
  else { return nil }
  var file: [UInt8] = []
  for message in messages.dropFirst() {
    guard case .chunk(let chunk)? = message.part, !chunk.isEmpty else { return nil }
    file += chunk
  }
  return file.count == header.sizeBytes ? file : nil
}

func upload(_ messages: [Request]) throws(AssetError) -> AssetUpload.Contents {
  var upload = try AssetUpload(messages.first, maxFileBytes: maxFileBytes)
  for message in messages.dropFirst() { try upload.append(message) }
  return try upload.finish()
}

fuzz { input in
  let messages = messages(input)
  let expected = expected(messages)
  do throws(AssetError) {
    let contents = try upload(messages)
    precondition(contents.bytes == expected, "the file differs")
    precondition(contents.name == messages[0].header.name)
    precondition(contents.digest == Array(messages[0].header.sha256))
  } catch {
    precondition(expected == nil, "a valid upload failed: \(error)")
    let status = error.status
    precondition(status.message.utf8.count < 1024, "the status is too long")
    precondition(!error.field.isEmpty && status.details.count == 2)
  }
}
