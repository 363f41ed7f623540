// Cannot be built where Martlet is tested: only its syntax is checked there. See README.md.
import SwiftUI

/// The log-in screen, and behind it the one that sends; over both, what was opened.
struct ContentView: View {
    @Bindable var session: Session

    var body: some View {
        NavigationStack {
            if session.user == nil {
                LogInView(session: session)
            } else {
                SendView(session: session)
            }
        }
        .sheet(item: $session.picture) { RichView(picture: $0) }
        .alert(showing: $session.notice, more: { notice in Task { await session.open(notice.content) } })
        .alert(
            "NotifyUsers", isPresented: session.hasMessage, actions: {}, message: { Text(session.message ?? "") })
    }
}

extension View {
    /// What comes while the app is in front: "OK", and "More" where there is more to see.
    fileprivate func alert(showing notice: Binding<Notice?>, more: @escaping (Notice) -> Void) -> some View {
        let isPresented = Binding(
            get: { notice.wrappedValue != nil }, set: { if !$0 { notice.wrappedValue = nil } })
        return alert(
            notice.wrappedValue?.shown.title ?? "For you", isPresented: isPresented, presenting: notice.wrappedValue,
            actions: { notice in
                Button("OK", role: .cancel) {}
                if notice.opensPicture { Button("More") { more(notice) } }
            },
            message: { Text($0.shown.body) })
    }
}

extension Session {
    fileprivate var hasMessage: Binding<Bool> {
        Binding(get: { self.message != nil }, set: { if !$0 { self.message = nil } })
    }
}
