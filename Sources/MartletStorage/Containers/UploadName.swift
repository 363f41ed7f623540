import Synchronization

/// The names of files that are being written.
enum UploadName {
    static let resumablePrefix = "job-"

    private static let last = Atomic<UInt64>(0)

    /// Returns a name that is unique in this process. It may equal a name of an earlier process, but the files of
    /// earlier processes are removed before the first call.
    static func fresh() -> String { "upload-\(last.wrappingAdd(1, ordering: .relaxed).newValue)" }

    /// Returns the name for a resumable upload with a key; nil if the key is empty or too long, or has characters with
    /// which the name could lead to another file.
    static func resumable(_ key: String) -> String? {
        let isPlain = key.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return isPlain && (1...128).contains(key.utf8.count) ? resumablePrefix + key : nil
    }
}
