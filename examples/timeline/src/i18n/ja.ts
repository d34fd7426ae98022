/** The page's words in Japanese. */

import type { Words } from "./en.ts"

export const ja: Words = {
  title: "リソースプランナー",
  language: "English",
  languageCode: "en",
  plan: "計画",
  loading: "計画を読み込んでいます…",
  waiting: "読み込み中…",
  notLive: "自動更新を停止しました。",
  reconnecting: "自動更新が中断しています。再接続中…",
  readOnly: "この計画は閲覧のみできます。",
  close: "閉じる",
  cancel: "キャンセル",
  save: "保存",
  saving: "保存中…",
  delete: "削除",
  deleting: "削除中…",

  navigation: "表示期間",
  today: "今日",
  previous: "前へ",
  next: "次へ",
  month: "月",
  quarter: "四半期",
  zoomIn: "拡大",
  zoomOut: "縮小",

  addAssignment: "予定を追加",
  addPerson: "メンバーを追加",
  addProject: "プロジェクトを追加",
  editAssignment: "予定を編集",
  editPerson: "メンバーを編集",
  editProject: "プロジェクトを編集",
  person: "メンバー",
  project: "プロジェクト",
  projects: "プロジェクト",
  firstDay: "開始日",
  lastDay: "終了日（当日を含む）",
  note: "メモ",
  name: "名前",
  colour: "色",

  emptyTitle: "まだメンバーがいません",
  emptyPeople: "メンバーとプロジェクトを追加してから、予定を登録してください。",
  emptyProjects: "プロジェクトがありません。追加すると予定を登録できます。",

  missing: "開始日と終了日を入力してください。",
  reversed: "終了日が開始日より前です。",
  outside: "1900-01-01 から 9999-12-30 までの日付を入力してください。",
  blank: "名前を入力してください。",
  choosePerson: "メンバーを選択してください",
  chooseProject: "プロジェクトを選択してください",

  deleteAssignmentTitle: "この予定を削除しますか？",
  deleteAssignment: (project, person, days) => `${project}、${person}、${days}`,
  deleteTitle: (name) => `${name}を削除しますか？`,
  counting: "一緒に削除される予定を数えています…",
  dependents: (number) =>
    number === 0
      ? "一緒に削除される予定はありません。元に戻せません。"
      : `削除すると、期間を問わず予定${number}件も一緒に削除されます。元に戻せません。`,

  saved: (what) => `${what}を保存しました。`,
  planned: (project, person, days) => `${person}の予定を追加しました：${project}、${days}`,
  created: (what) => `${what}を追加しました。`,
  deleted: (what) => `${what}を削除しました。`,
  movedTo: (project, person, days) => `${project}：${person}、${days}`,

  bar: (project, person, days, note, overlaps) =>
    `${project}、${person}、${days}${note && `、${note}`}${overlaps ? "、他の予定と重複" : ""}`,
  unknownProject: "不明なプロジェクト",
  days: (number) => `${number}日間`,

  overlaps: (number) => `表示期間の重複：${number}件`,
  overlapsHint: "同じ日に複数の予定が入っているメンバーがいます。警告のみで、登録は妨げません。",
  overlap: (person, days, projects) => `${person}、${days}：${projects}`,

  unreadable: (number) =>
    `読み取れないデータが${number}件あり、表示されていない可能性があります。詳細はサーバーのログにあります。`,

  notMoved: (project, person) => `${project}（${person}）は変更されませんでした。`,
  failures: {
    CONFLICT: "他の人が先に変更しました。現在の内容を表示しています。必要であればもう一度操作してください。",
    NOT_FOUND: "対象が見つかりません。すでに削除された可能性があります。",
    INVALID: "サーバーが入力値を受け付けませんでした。",
    LIMIT_EXCEEDED: "一度に取得できる量を超えています。表示期間を短くしてください。",
    UNAUTHENTICATED: "サインアウトしています。サインインしてから再読み込みしてください。",
    FORBIDDEN: "このチームではこの操作は許可されていません。",
    BAD_USER_INPUT: "サーバーがリクエストを理解できませんでした。",
    UNAVAILABLE: "サーバーが一時的にデータにアクセスできません。しばらくしてからもう一度お試しください。",
    INTERNAL: "サーバーでエラーが発生しました。",
    OFFLINE: "サーバーに接続できません。ネットワークを確認してください。",
  },
  correlation: (id) => `サーバー管理者への問い合わせ番号：${id}`,
  retry: "再試行",
  reload: "再読み込み",

  help: "マウスとキーボードの操作",
  helpMouse:
    "バーをドラッグすると移動します。上下に動かすと担当者が変わり、端をドラッグすると期間が変わります。バー、メンバー名、プロジェクト名をクリックすると編集でき、削除もそこからできます。余白のドラッグでスクロール、Ctrl＋ホイールで拡大・縮小します。",
  keys: [
    ["Tab", "バーへ移動、次の項目へ"],
    ["↑ ↓", "前のバー、次のバー"],
    ["← →", "1日ずつ移動"],
    ["Shift ← →", "終了日を1日ずつ変更"],
    ["Alt ↑ ↓", "上または下のメンバーへ移動"],
    ["Enter", "編集"],
    ["Delete", "削除"],
  ],
}
