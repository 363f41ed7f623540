import CMartletOpenSSL

/// Secret bytes. Their memory is zeroed when the last copy is released, and descriptions do not reveal them.
///
/// Copies share one buffer. `==` takes constant time if the lengths are equal.
public struct SecretBytes: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let storage: Storage

    /// Copies `bytes`. The caller must clear its own copy.
    public init(_ bytes: [UInt8]) {
        storage = Storage(bytes)
    }

    /// The number of bytes.
    public var count: Int { storage.buffer.count }

    /// Calls `body` with the bytes. The pointer is not valid after the call.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(storage.buffer))
    }

    /// A plain copy for functions that take arrays. Unlike `SecretBytes`, the copy is not zeroed.
    public var bytes: [UInt8] { Array(storage.buffer) }

    public static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        guard left.count == right.count else { return false }
        guard let a = left.storage.buffer.baseAddress, let b = right.storage.buffer.baseAddress else { return true }
        return CRYPTO_memcmp(a, b, left.count) == 0
    }

    public var description: String { "SecretBytes" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }

    // @unchecked Sendable because the buffer is written in `init` only and freed when the last reference is released.
    private final class Storage: @unchecked Sendable {
        let buffer: UnsafeMutableRawBufferPointer

        init(_ bytes: [UInt8]) {
            buffer = .allocate(byteCount: bytes.count, alignment: 1)
            buffer.copyBytes(from: bytes)
        }

        deinit {
            OPENSSL_cleanse(buffer.baseAddress, buffer.count)
            buffer.deallocate()
        }
    }
}
