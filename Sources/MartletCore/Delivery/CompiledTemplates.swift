import MartletModel
import Synchronization

/// Templates that have been taken apart, so that each is once and not for every notification.
final class CompiledTemplates: Sendable {
    private struct Key: Hashable {
        var template: Int64
        var platform: PlatformID
    }

    private let limit: Int
    private let compiled = Mutex<[Key: Result<CompiledTemplate, TemplateError>]>([:])

    /// - Parameter limit: How many are kept.
    init(limit: Int = 4096) {
        self.limit = limit
    }

    /// The template of a rendering as a platform writes its bodies.
    func template(
        of rendering: Rendering, on platform: any PushPlatform.Type
    ) -> Result<CompiledTemplate, TemplateError> {
        let key = Key(template: rendering.id.template, platform: platform.descriptor.platform)
        if let known = compiled.withLock({ $0[key] }) { return known }
        let result = Result { () throws(TemplateError) in
            try CompiledTemplate(rendering.template, format: platform.format(of: rendering.template))
        }
        compiled.withLock { compiled in
            if compiled.count >= limit { compiled.removeAll() }
            compiled[key] = result
        }
        return result
    }
}
