// swift-tools-version: 6.2
import PackageDescription

/// libFuzzer on whatever strangers send. Nobody's dependency, so it may use flags that would keep a
/// package from being one: `Library` leads to the product's own sources, which are compiled here once
/// more so that the fuzzer sees which ways through them an input takes.
///
/// A new target is one file, `Targets/NAME/main.swift`, with seeds in `Seeds/NAME`, and a line in
/// `targets` below. `dev/fuzz NAME` runs it.
let targets: [(name: String, uses: [Target.Dependency])] = [
  ("asset", ["SidelightKernels", "SidelightCodecs"]),
  ("jpeg", ["SidelightKernels", "SidelightCodecs"]),
  (
    "frame",
    [
      "SidelightKernels", "SidelightWire", "SidelightTransport",
      .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
      .product(name: "SwiftProtobuf", package: "swift-protobuf"),
    ]
  ),
  ("geometry", ["SidelightKernels", "SidelightWire"]),
  ("pipeline-text", ["SidelightKernels", "SidelightWire"]),
  (
    "pipeline",
    [
      "SidelightKernels", "SidelightWire",
      .product(name: "SwiftProtobuf", package: "swift-protobuf"),
    ]
  ),
  (
    "slots",
    [
      "SidelightKernels", "SidelightWire",
      .product(name: "SwiftProtobuf", package: "swift-protobuf"),
    ]
  ),
  (
    "upload",
    [
      "SidelightUploads", "SidelightWire",
      .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf"),
      .product(name: "SwiftProtobuf", package: "swift-protobuf"),
    ]
  ),
]

let sanitizers: SwiftSetting = .unsafeFlags(["-sanitize=fuzzer,address"])

/// As in the product's own manifest, less what only warns.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  sanitizers,
]

let package = Package(
  name: "fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: "https://github.com/grpc/grpc-swift-2", .upToNextMinor(from: "2.4.3")),
    .package(
      url: "https://github.com/grpc/grpc-swift-nio-transport", .upToNextMinor(from: "2.9.2")),
    .package(url: "https://github.com/apple/swift-nio-http2", .upToNextMinor(from: "1.46.0")),
    .package(url: "https://github.com/grpc/grpc-swift-protobuf", from: "2.4.1"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .target(name: "CFuzzer", path: "CFuzzer"),
    .target(name: "FuzzDriver", dependencies: ["CFuzzer"], path: "Driver", swiftSettings: settings),
    .target(
      name: "CKernels", path: "Library/CKernels",
      cSettings: [.unsafeFlags(["-fsanitize=fuzzer-no-link,address"])]),
    .target(
      name: "SidelightKernels", dependencies: ["CKernels"], path: "Library/Kernels",
      swiftSettings: settings),
    .systemLibrary(name: "CTurboJPEG", path: "Library/CTurboJPEG", pkgConfig: "libturbojpeg"),
    .systemLibrary(name: "CPNG", path: "Library/CPNG", pkgConfig: "libpng"),
    .target(
      name: "SidelightCodecs", dependencies: ["SidelightKernels", "CTurboJPEG", "CPNG"],
      path: "Library/Codecs", swiftSettings: settings),
    .target(
      name: "CSharedMemory", path: "Library/CSharedMemory",
      cSettings: [.unsafeFlags(["-fsanitize=fuzzer-no-link,address"])]),
    .target(
      name: "SidelightWire",
      dependencies: [
        "SidelightKernels",
        .product(name: "GRPCCore", package: "grpc-swift-2"),
        .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf"),
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
      ],
      path: "Library/Wire", swiftSettings: settings),
    .target(
      name: "SidelightTransport",
      dependencies: [
        "SidelightKernels", "SidelightWire", "CSharedMemory",
        .product(name: "GRPCCore", package: "grpc-swift-2"),
        .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf"),
        .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOHPACK", package: "swift-nio-http2"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "X509", package: "swift-certificates"),
        .product(name: "SwiftASN1", package: "swift-asn1"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      path: "Library/Transport", swiftSettings: settings),
    // What of the server takes uploads in; the whole of it would be most of the packages there are.
    .target(
      name: "SidelightUploads",
      dependencies: [
        "SidelightKernels", "SidelightWire",
        .product(name: "GRPCCore", package: "grpc-swift-2"),
        .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf"),
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
      ],
      path: "Uploads", swiftSettings: settings + [.unsafeFlags(["-enable-testing"])]),
  ]
    + targets.map { name, uses in
      .executableTarget(
        name: "fuzz-\(name)", dependencies: ["FuzzDriver"] + uses, path: "Targets/\(name)",
        swiftSettings: settings,
        linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])])
    }
)
