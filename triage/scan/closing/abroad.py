"""Short words for the end of a program, and for an error, in languages other than English.

They are the C library's and bash's own translations. Those long enough to be looked for in whole logs are rules';
these are too short for that and count near the end of a log only.
"""

_KILLED = r"Tué|Morto|Убито?|已杀死|強制結束|強制終了|죽었음|Вбит(?:о|ий)|Zabit"
_CRASHED = r"段错误|程式記憶體區段錯誤|总线错误|匯流排錯誤|バスエラー|버스 오류|非法指令|浮点数例外|浮動小数点例外|已放弃|アボートしました"

ENDED = (
    r"^(?:.{1,120}?[:：] *)?(?:\[\d+\][+-]? +)?(?:\d{1,8} ?)?(?:"
    + _KILLED
    + r"|"
    + _CRASHED
    + r")(?:\s*$|\s*[(（]|\s{2,}\S)"
)
"""A line in which a shell says how a program ended."""
WORDS = (
    "tué", "morto", "убит", "已杀死", "強制結束", "強制終了", "죽었음", "вбит", "zabit",
    "段错误", "程式記憶體區段錯誤", "总线错误", "匯流排錯誤", "バスエラー", "버스 오류", "非法指令", "浮点数例外", "浮動小数点例外",
    "已放弃", "アボートしました", "错误", "錯誤", "エラー", "오류", "fehler", "erro", "erreur", "ошибка", "błąd", "hata",
)  # fmt: skip
"""In small letters, what stands in every line that ``ENDED`` or ``ERROR`` finds."""
ERROR = r"^(?:错误|錯誤|致命错误|エラー|致命的エラー|오류|치명적 오류|Fehler|Erreur|Errore|Ошибка|Фатальная ошибка|Błąd|Hata|Erro)\s?[:：]"
"""A line that begins with the word for an error."""
DONE = (
    r"(?:训练|評估|评估|推理|任务|运行|全部|测试|處理|处理)(?:已|全部)?(?:完成|结束|結束)(?![\w ]*\d+ ?[%％])"
    r"|(?:学習|訓練|評価|処理|推論)(?:が|は)?(?:完了|終了)"
    r"|^正常終了|(?:학습|훈련|평가|추론)(?:이|가)? ?완료"
)
"""How programs say that their work is done."""
