<?php
// The endpoint as one would first write it in PHP: rows from SQLite with an index on the position, encoded for every request.
$database = new SQLite3($_SERVER['PLACES'], SQLITE3_OPEN_READONLY);
$columns = 'id, lon, lat, name, url, description, comment, photo, region, altitude_text, summer_text, winter_text, category_slug, category, commune, altitude, summer_capacity, winter_capacity';
[$west, $south, $east, $north] = array_map('floatval', explode(',', $_GET['bbox']));
$query = $database->prepare("SELECT $columns FROM place WHERE lon >= ? AND lat >= ? AND lon <= ? AND lat <= ? LIMIT 20000");
foreach ([$west, $south, $east, $north] as $index => $edge) {
    $query->bindValue($index + 1, $edge, SQLITE3_FLOAT);
}
$rows = $query->execute();
$features = [];
while ($row = $rows->fetchArray(SQLITE3_ASSOC)) {
    ['id' => $id, 'lon' => $lon, 'lat' => $lat] = $row;
    unset($row['id'], $row['lon'], $row['lat']);
    $geometry = ['type' => 'Point', 'coordinates' => [$lon, $lat]];
    $features[] = ['type' => 'Feature', 'id' => $id, 'geometry' => $geometry, 'properties' => $row];
}
header('Content-Type: application/geo+json');
echo json_encode(['type' => 'FeatureCollection', 'features' => $features], JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
