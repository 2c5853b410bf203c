package tradegen

// firstOfSeedOne is the first event of New(1, Options{}).
const firstOfSeedOne = `` +
	`{"trade_id":"T000000000","book_id":"BK0071","desk":"EXO","asset_class":"RATES",` +
	`"execution_time":"2026-07-06T17:27:41.635Z","trade_date":"2026-07-06","notional":839380.34,` +
	`"region":"APAC","pricing_vector":{"model":"HullWhite","currency":"EUR","dv01":36521.93,` +
	`"convexity":59.8273,"curve_sensitivities":{"1M":-4670.2,"3M":-1815.004,"6M":2365.656,` +
	`"1Y":-4198.757,"2Y":2641.113,"3Y":-505.968,"5Y":-4965.206,"7Y":-2375.318,"10Y":2895.615,` +
	`"15Y":1134.337,"20Y":-2462.244,"30Y":-1641.354},"model_params":{"mean_reversion":0.09495,` +
	`"volatility":0.016946,"calibration":{"fit_error":0.00005135,"iterations":15,` +
	`"instruments":["swaption"]}}}}`
