/// The media types of files, by file name extension.
enum MediaType {
    private static let types = [
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
        "heic": "image/heic", "mp3": "audio/mpeg", "m4a": "audio/mp4", "wav": "audio/wav", "ogg": "audio/ogg",
        "mp4": "video/mp4", "txt": "text/plain; charset=utf-8", "pdf": "application/pdf", "json": "application/json",
    ]

    static func ofFile(named name: String) -> String {
        let file = name.split(separator: "/").last ?? ""
        let ending = file.lastIndex(of: ".").map { file[file.index(after: $0)...].lowercased() }
        return ending.flatMap { types[$0] } ?? "application/octet-stream"
    }
}
