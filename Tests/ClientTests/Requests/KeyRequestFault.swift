import Foundation
import LatchkeyCore

@_spi(Adapters) @testable import Latchkey

/// A deliberate mistake in the transitions, to check that the explorer finds it.
enum KeyRequestFault: CaseIterable {
    case keyIsLost, errorIsLost, answeredTwice, answeredAfterCancel, cancelAnswersNothing, cancelLetsWorkGoOn
    case abandonedIsAnswered, heldBySystemIsAnswered, stoppedStaysPending, finishedStays
    case releasedStaysHeld, releaseOfFirstForgetsRenewal, releasedIsRenewed, olderReplacesNewer, renewingIsAskedAgain
    case alarmIsForgotten, alarmIsLate, leaseEndIsSilent, endsTwice, sessionLeavesKey
    case sessionLeavesRenewal, renewalStaysPending, playerLeavesKey, playerLeavesSource, suspendedIsRenewed
    case resumeForgetsAlarm, lastKeyLeavesSource

    func change(
        _ table: inout KeyRequestTable, _ effects: inout [KeyRequestTable.Effect],
        after event: KeyRequestExplorer.Event, from before: World
    ) {
        switch self {
        case .keyIsLost, .errorIsLost, .answeredTwice, .answeredAfterCancel, .cancelAnswersNothing, .cancelLetsWorkGoOn,
            .abandonedIsAnswered, .heldBySystemIsAnswered:
            changeAnswer(&effects, after: event, from: before)
        case .stoppedStaysPending, .finishedStays, .releasedStaysHeld, .releaseOfFirstForgetsRenewal,
            .olderReplacesNewer,
            .sessionLeavesKey, .sessionLeavesRenewal, .renewalStaysPending, .playerLeavesKey:
            changeState(&table, &effects, after: event, from: before)
        case .releasedIsRenewed, .renewingIsAskedAgain, .alarmIsForgotten, .alarmIsLate, .leaseEndIsSilent, .endsTwice,
            .lastKeyLeavesSource, .playerLeavesSource, .suspendedIsRenewed, .resumeForgetsAlarm:
            changeRest(&table, &effects, after: event, from: before)
        }
    }

    private func changeAnswer(
        _ effects: inout [KeyRequestTable.Effect], after event: KeyRequestExplorer.Event, from before: World
    ) {
        switch (self, event) {
        case (.keyIsLost, .reply), (.errorIsLost, .deadline), (.cancelAnswersNothing, .cancel):
            effects.removeAll { $0.isAnswer }
        case (.answeredTwice, .reply): effects += effects.filter(\.isAnswer)
        case (.answeredAfterCancel, .reply(let number)):
            guard before.table[number] == .stopping, let request = before.facts[number]?.request else { return }
            effects.append(.answer(request, .success(Secret(Data()))))
        case (.cancelLetsWorkGoOn, .cancel):
            effects.removeAll { if case .stopWork = $0 { true } else { false } }
        case (.abandonedIsAnswered, .abandon(let number)), (.heldBySystemIsAnswered, .systemHolds(let number)):
            guard before.table[number] == .pending, let request = before.facts[number]?.request else { return }
            effects.append(.answer(request, .failure(.cancelled)))
        default: break
        }
    }

    private func changeState(
        _ table: inout KeyRequestTable, _ effects: inout [KeyRequestTable.Effect],
        after event: KeyRequestExplorer.Event, from before: World
    ) {
        switch (self, event) {
        case (.stoppedStaysPending, .cancel(let number)) where before.table[number] == .pending:
            table[number] = .pending
        case (.finishedStays, .deadline(let number)): table.records[number] = before.table.records[number]
        case (.releasedStaysHeld, .release), (.sessionLeavesKey, .sessionDeath), (.playerLeavesKey, .releasePlayer):
            table.holders = before.table.holders
            for number in table.holders.values { table.records[number] = before.table.records[number] }
            table.alarm = before.table.alarm
        case (.releaseOfFirstForgetsRenewal, .release(let number)):
            guard before.table[number] == .ended else { return }
            (table, effects) = (before.table, [])
        case (.olderReplacesNewer, .reply(let number)):
            guard before.table[number] == .pending, table[number] == .ended,
                let request = before.facts[number]?.request,
                let holder = table.holders[request.key], var record = before.table.records[number]
            else { return }
            record.state = .held(renewal: nil)
            table.records[holder] = nil
            table.records[number] = record
            table.holders[request.key] = number
        case (.sessionLeavesRenewal, .sessionDeath):
            effects.removeAll { $0.isAnswer }
        case (.renewalStaysPending, .deadline(let number)):
            for (holder, record) in before.table.records where record.state == .renewing(by: number) {
                table.records[holder] = record
            }
        default: break
        }
    }

    private func changeRest(
        _ table: inout KeyRequestTable, _ effects: inout [KeyRequestTable.Effect],
        after event: KeyRequestExplorer.Event, from before: World
    ) {
        switch (self, event) {
        case (.releasedIsRenewed, .release(let number)):
            if before.table[number].isHeld, let request = before.facts[number]?.request {
                effects.append(.renew(request))
            }
        case (.renewingIsAskedAgain, .renewal):
            for record in table.records.values {
                if case .renewing = record.state { effects.append(.renew(record.request)) }
            }
        case (.alarmIsForgotten, .reply): table.alarm = before.table.alarm
        case (.alarmIsLate, .reply): table.alarm = table.alarm.map { $0 + .seconds(1) }
        case (.leaseEndIsSilent, .retry): effects.removeAll { if case .end = $0 { true } else { false } }
        case (.endsTwice, .sessionDeath): effects += effects.filter { if case .end = $0 { true } else { false } }
        case (.suspendedIsRenewed, .retry) where before.isSuspended:
            effects += table.holders.values.compactMap { table.records[$0]?.request }.map { .renew($0) }
        case (.resumeForgetsAlarm, .resume): table.alarm = nil
        case (.lastKeyLeavesSource, .release), (.playerLeavesSource, .releasePlayer):
            effects.removeAll { if case .endSource = $0 { true } else { false } }
        default: break
        }
    }
}

extension KeyRequestTable.Effect {
    var isAnswer: Bool { if case .answer = self { true } else { false } }
}
